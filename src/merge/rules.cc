#include "merge/rules.h"

#include <charconv>

namespace tidemark::merge {
namespace {

Decision Earlier(Reason reason) {
  return {false, reason};
}
Decision Later(Reason reason) {
  return {true, reason};
}

/// MySQL's _event_seq, "<binlog file number>.<position>".
struct EventSeq {
  int64_t file = 0;
  int64_t position = 0;
  friend auto operator<=>(const EventSeq&, const EventSeq&) = default;
};

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<EventSeq> ParseEventSeq(const OrderingValue& value) {
  if (value.kind() != OrderingValue::Kind::kText) return std::nullopt;
  const std::string_view text = value.bytes();
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(dot + 1);
  const auto file = WholeNumber(text.substr(0, dot));
  const auto position = WholeNumber(rest.substr(0, rest.find('.')));
  if (!file || !position) return std::nullopt;
  return EventSeq{*file, *position};
}

Decision ByOrder(std::partial_ordering earlier_to_later, bool is_tie_to_earlier) {
  if (earlier_to_later < 0) return Later(Reason::kHigher);
  if (earlier_to_later > 0) return Earlier(Reason::kLower);
  return is_tie_to_earlier ? Earlier(Reason::kTieEarlier) : Later(Reason::kTieLater);
}

Decision ByEventSeq(const Rules& rules, bool is_tie_to_earlier, const Version& earlier,
                    const Version& later) {
  if (earlier.ordering.is_null()) return Later(Reason::kHigher);  // rows of a bootstrap have none
  const auto a = ParseEventSeq(earlier.ordering);
  const auto b = ParseEventSeq(later.ordering);
  if (a && b) return ByOrder(*a <=> *b, is_tie_to_earlier);
  return rules.is_event_time ? Later(Reason::kIncomparable) : Earlier(Reason::kFailsOnEventSeq);
}

/// Classes whose order is not that of the values they hold.
bool ComparesBytes(JavaClass java_class) {
  return java_class == JavaClass::kFixed || java_class == JavaClass::kByteBuffer ||
         java_class == JavaClass::kString;
}

Decision ByJavaOrder(const Rules& rules, bool is_tie_to_earlier, const Version& earlier,
                     const Version& later) {
  // Plain numbers of the same column: nearly every record.
  const OrderingValue& x = earlier.ordering;
  const OrderingValue& y = later.ordering;
  if (x.kind() == OrderingValue::Kind::kInteger && y.kind() == x.kind() &&
      x.source() == OrderingValue::Source::kData && y.source() == x.source() &&
      x.column_type() == y.column_type()) {
    return ByOrder(x.integer() <=> y.integer(), is_tie_to_earlier);
  }
  const auto a = BufferedJava(rules.release, x);
  const auto b = BufferedJava(rules.release, y);
  if (!a || !b) return Earlier(Reason::kFailsOnClass);
  const auto order = CompareInJava(*a, *b);
  if (order == std::partial_ordering::unordered) {
    return Earlier(x.is_null() || y.is_null() ? Reason::kFailsOnNull : Reason::kFailsOnClass);
  }
  Decision decision = ByOrder(order, is_tie_to_earlier);
  if (ComparesBytes(a->java_class) && CompareByValue(x, y) != order) {
    decision.reason = Reason::kComparedAsBytes;
  }
  return decision;
}

Decision ByValue(const Rules& rules, bool is_tie_to_earlier, const Version& earlier,
                 const Version& later) {
  const auto order = CompareByValue(earlier.ordering, later.ordering);
  if (order == std::partial_ordering::unordered) {
    return rules.is_event_time ? Later(Reason::kIncomparable) : Earlier(Reason::kFailsOnClass);
  }
  return ByOrder(order, is_tie_to_earlier);
}

/// PartialUpdateAvroPayload asks whether the value it was built with and the one it finds in the
/// stored row have one class. They come by different ways, so text, decimals and dates do not
/// always.
bool PayloadSeesOneClass(const Rules& rules, ColumnType type) {
  switch (type) {
    case ColumnType::kDecimalBytes:
    case ColumnType::kDecimalFixed:
    case ColumnType::kDate: return false;
    case ColumnType::kString: return rules.release <= Release::k0_14;
    default: return true;
  }
}

Decision ChooseData(const Rules& rules, DataRule rule, Comparison comparison,
                    const Version& earlier, const Version& later) {
  const bool is_tie_to_earlier = rule == DataRule::kFirst || rule == DataRule::kEventSeqFirst;
  switch (rule) {
    case DataRule::kLater: return Later(Reason::kLastArrival);
    case DataRule::kEventSeq:
    case DataRule::kEventSeqFirst: return ByEventSeq(rules, is_tie_to_earlier, earlier, later);
    case DataRule::kWithinClass:
      if (!PayloadSeesOneClass(rules, later.ordering.column_type())) {
        return Later(Reason::kLastArrival);
      }
      [[fallthrough]];
    default: break;
  }
  return comparison == Comparison::kInJava ? ByJavaOrder(rules, is_tie_to_earlier, earlier, later)
                                           : ByValue(rules, is_tie_to_earlier, earlier, later);
}

/// A delete block's record against what the logs have so far. Every release compares the value as
/// it came out of the block, but 1.1, which converts it first.
Decision CompareDelete(const Rules& rules, const Version& current, const Version& incoming) {
  const auto raw = rules.release == Release::k1_1
                       ? BufferedJava(rules.release, incoming.ordering)
                       : std::optional(RawJava(rules.release, incoming.ordering));
  if (incoming.ordering.is_sentinel() && incoming.ordering.branch() == DeleteBranch::kNull &&
      incoming.ordering.source() == OrderingValue::Source::kDeleteBlock) {
    return Earlier(Reason::kFailsOnNull);
  }
  if (!raw || raw->java_class == JavaClass::kNone) return Earlier(Reason::kFailsOnClass);
  if (IsIntegerZero(*raw)) return Later(Reason::kDeleteSentinel);
  const auto kept = BufferedJava(rules.release, current.ordering);
  if (!kept || !IsSameClass(*kept, *raw)) return Later(Reason::kDeleteClass);
  const auto order = CompareInJava(*kept, *raw);
  if (order == std::partial_ordering::unordered) return Earlier(Reason::kFailsOnClass);
  return ByOrder(order, false);
}

Decision DeleteInLog(const Rules& rules, const Version& current, const Version& incoming) {
  if (rules.log_delete == DeleteRule::kWins) {
    return Later(rules.log_data == DataRule::kLater ? Reason::kLastArrival
                                                    : Reason::kDeleteUnordered);
  }
  if (rules.sentinel_stays && IsSentinelDelete(rules, current)) {
    return Earlier(Reason::kSentinelStays);
  }
  if (rules.log_delete == DeleteRule::kWithinClass) return CompareDelete(rules, current, incoming);
  if (IsSentinelDelete(rules, incoming)) return Later(Reason::kDeleteSentinel);
  if (IsSentinelDelete(rules, current)) return Later(Reason::kAfterSentinel);
  return ChooseData(rules, rules.log_data, rules.log_comparison, current, incoming);
}

Decision DataInLog(const Rules& rules, const Version& current, const Version& incoming) {
  if (rules.data_beats_delete && current.op == Op::kDelete) {
    return Later(Reason::kDataAfterDelete);
  }
  const bool is_partial_mode = rules.partial_mode_forgets_deletes && incoming.is_partial_mode;
  if (is_partial_mode && IsDelete(rules, incoming.op)) return Earlier(Reason::kPartialMode);
  if (is_partial_mode && IsDelete(rules, current.op)) return Later(Reason::kPartialMode);
  if (rules.sentinel != SentinelRule::kPlain && IsSentinelDelete(rules, incoming)) {
    return Later(Reason::kDeleteSentinel);
  }
  if (rules.sentinel >= SentinelRule::kEither && IsSentinelDelete(rules, current)) {
    return Later(Reason::kAfterSentinel);
  }
  const bool has_delete = IsDelete(rules, current.op) || IsDelete(rules, incoming.op);
  const DataRule rule =
      rules.payload_deletes_compare && has_delete ? DataRule::kGreater : rules.log_data;
  return ChooseData(rules, rule, rules.log_comparison, current, incoming);
}

/// 1.0.0 and 1.0.1 take what they meet for older than what they have, which is so between files and
/// not so inside one.
Decision DecideNewestFirst(const Rules& rules, const Version& current, const Version& incoming) {
  const bool is_inside_file = IsSameFlush(current.place, incoming.place);
  const bool is_by_payload = rules.payload_deletes_compare;
  if (rules.log_data == DataRule::kLater && !is_by_payload) return Earlier(Reason::kLastArrival);
  if (IsSentinelDelete(rules, current)) return Earlier(Reason::kDeleteSentinel);
  if (incoming.op == Op::kDelete) {
    Decision decision = CompareDelete(rules, current, incoming);
    if (decision.takes_later && !is_inside_file && decision.reason != Reason::kHigher) {
      decision.reason = Reason::kOlderDelete;
    }
    return decision;
  }
  // A payload updates the older row, and a delete has none to do it with: it wins.
  if (is_by_payload && IsDelete(rules, current.op)) return Earlier(Reason::kLastArrival);
  const bool has_delete = IsDelete(rules, current.op) || IsDelete(rules, incoming.op);
  const DataRule rule = has_delete ? DataRule::kGreater : rules.log_data;
  const Decision decision = ChooseData(rules, rule, rules.log_comparison, incoming, current);
  if (IsFailure(decision.reason)) return decision;
  if (decision.reason == Reason::kLastArrival) return Earlier(decision.reason);
  if (decision.takes_later) {
    if (decision.reason != Reason::kTieLater) return Earlier(Reason::kLower);
    return Earlier(is_inside_file ? Reason::kTieEarlier : Reason::kTieLater);
  }
  return Later(Reason::kHigher);
}

}  // namespace

bool IsDelete(const Rules& rules, Op op) {
  switch (op) {
    case Op::kUpsert: return false;
    case Op::kDelete:
    case Op::kDeletedRow: return true;
    case Op::kOperationDelete:
    case Op::kOperationBefore: return rules.operation == OperationRule::kDeletes;
  }
  return false;
}

MarkedBase MarkOf(const Rules& rules, Op base) {
  switch (base) {
    case Op::kDeletedRow: return rules.flagged_base;
    case Op::kOperationDelete:
    case Op::kOperationBefore: return rules.operation_base;
    default: return MarkedBase::kIsDelete;
  }
}

bool IsSentinelDelete(const Rules& rules, const Version& version) {
  if (!IsDelete(rules, version.op)) return false;
  if (version.ordering.is_sentinel() || version.ordering.is_null()) return true;
  if (rules.is_event_time) return false;
  const auto java = BufferedJava(rules.release, version.ordering);
  if (!java) return false;
  // 1.0.0 has the zero of the column's own type for "none".
  if (rules.release == Release::k1_0_0) {
    const auto none =
        BufferedJava(rules.release, OrderingValue::Null({version.ordering.column_type(), 0}));
    return none && IsSameClass(*none, *java) && CompareInJava(*none, *java) == 0;
  }
  return IsIntegerZero(*java);
}

Decision DecideInLog(const Rules& rules, const Version& current, const Version& incoming) {
  if (rules.scan == ScanOrder::kNewestFileFirst) return DecideNewestFirst(rules, current, incoming);
  if (incoming.op == Op::kDelete) return DeleteInLog(rules, current, incoming);
  return DataInLog(rules, current, incoming);
}

Decision DecideAgainstBase(const Rules& rules, const Version& base, const Version& log,
                           bool is_partial_mode) {
  const bool is_delete = IsDelete(rules, log.op);
  if (is_delete && rules.partial_mode_forgets_deletes && is_partial_mode) {
    return Later(Reason::kPartialMode);
  }
  if (is_delete && rules.sentinel != SentinelRule::kPlain && IsSentinelDelete(rules, log)) {
    return Later(Reason::kDeleteSentinel);
  }
  const DeleteRule rule = log.op == Op::kDelete ? rules.base_delete : rules.base_deleted_row;
  if (is_delete && rule == DeleteRule::kWins) {
    return Later(rules.base_data == DataRule::kLater ? Reason::kLastArrival
                                                     : Reason::kDeleteBeatsBase);
  }
  const DataRule data =
      rules.payload_deletes_compare && is_delete ? DataRule::kGreater : rules.base_data;
  return ChooseData(rules, data, rules.base_comparison, base, log);
}

}  // namespace tidemark::merge
