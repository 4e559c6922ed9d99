/// The rules by which whoever listens stays in step with one table (change-feed §4.5, C1-C8, C11).
/// Pure: times are parameters, bytes were parsed before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "change/event_part.h"
#include "change/group.h"

namespace tidemark::change {

/// An instant whose group was applied.
struct AppliedInstant {
  InstantKey instant{};
  int64_t seq = 0;

  friend bool operator==(const AppliedInstant&, const AppliedInstant&) = default;
};
/// So many of them are remembered, the newest.
inline constexpr size_t kAppliedInstantsMax = 128;

/// The last group that told of an instant.
struct LatestCommit {
  InstantKey instant{};
  int64_t seq = 0;
  CommitType type = CommitType::kUnknown;
  std::optional<std::string> operation{};
  std::optional<std::string> completed{};
  std::optional<WallTime> time{};
  std::map<std::string, std::string> extra{};

  friend bool operator==(const LatestCommit&, const LatestCommit&) = default;
};

/// Why a subscriber asks for the newest snapshot.
enum class RelistReason {
  kFirst,   ///< nothing is known of the table (C11)
  kEpoch,   ///< a newer epoch has begun (C1)
  kGap,     ///< groups are missing, or the one before is not the one that was applied (C4)
  kDigest,  ///< what is held is not what the publisher holds (C5)
  kOpen,    ///< a group stayed incomplete while later ones came (C8)
  kPoison,  ///< an event of the table cannot be read (C9)
  kAsked,   ///< somebody asked
};
/// "first", "epoch", "gap", "digest", "open", "poison", "asked".
std::string_view RelistReasonName(RelistReason reason);

/// One table as a subscriber holds it: what a reader of the table sees after group `seq` of
/// `epoch`.
struct Replica {
  std::string uid{};
  std::string table_id{};
  std::string base_path{};
  int64_t epoch = 0;  ///< 0: nothing is known yet
  int64_t seq = 0;
  /// Which group that was, to compare with what the next one says; nullopt after a snapshot.
  std::optional<Previous> last{};
  Schema schema{};
  int64_t schema_version = 0;
  /// By path, byte-wise ascending; seq of the group that named it last, or of the snapshot.
  std::map<std::string, int64_t, std::less<>> partitions{};
  Digest partition_digest{};
  int table_version = 0;
  bool is_dropped = false;
  /// Nothing is applied before a snapshot comes, and why.
  std::optional<RelistReason> held_for{};
  std::optional<LatestCommit> latest{};
  std::optional<WallTime> newest_time{};  ///< greatest time of a commit that was applied
  std::deque<AppliedInstant> instants{};  ///< newest last

  friend bool operator==(const Replica&, const Replica&) = default;
};

enum class DecisionKind {
  kApplied,    ///< `group`, in one step
  kReplaced,   ///< everything, by a snapshot
  kGathered,   ///< part of something that is not whole yet
  kParked,     ///< kept until what comes before it is there
  kRepeat,     ///< known; dropped
  kOldEpoch,   ///< of an epoch that is over; dropped
  kOldPage,    ///< of a snapshot that is older than what is held, or the same; dropped
  kConflict,   ///< an id that is known, with other bytes: a bug of the publisher; dropped
  kBroken,     ///< parts that do not make the group they claim to be; dropped
  kOverflow,   ///< no room to park it; dropped
  kMismatch,   ///< what was applied gave another state than the publisher's
  kRelist,     ///< the newest snapshot is wanted, for `reason`
  kHealed,     ///< what was missing has come
};

struct Decision {
  DecisionKind kind = DecisionKind::kGathered;
  RelistReason reason = RelistReason::kFirst;  ///< of kRelist
  Group group{};                               ///< of kApplied, whole
};

struct SubscriberLimits {
  size_t parked_groups_max = 1'000;
  size_t parked_bytes_max = size_t{16} << 20;
  /// Of the one group, or snapshot, that is being put together.
  size_t open_bytes_max = size_t{1} << 30;
  Milliseconds gap_patience{5'000};
  Milliseconds open_patience{60'000};
  /// Between two readings of the state topic for one table that did not help.
  Milliseconds relist_every{30'000};
};

/// One table's subscription. A value; single-threaded.
class Subscriber {
 public:
  using Decisions = std::vector<Decision>;

  /// `replica`: what was stored, or nothing.
  explicit Subscriber(Replica replica = {}, SubscriberLimits limits = {});

  const Replica& replica() const { return replica_; }

  /// The next event, in any order, any number of times. Cost: logarithmic in the partitions for
  /// each that the group names; of a snapshot linear.
  Decisions Take(EventPart part, MonoTime now);

  /// An event that bore the table's key cannot be read (C9 a): nothing is applied before the next
  /// snapshot.
  Decisions TakePoison(MonoTime now);

  /// Nothing is applied before the next snapshot.
  Decisions Relist(RelistReason reason, MonoTime now);

  /// Time passed (C4, C8).
  Decisions Tick(MonoTime now);

  /// The publisher said, behind all events up to it, which group of the table is its last. When
  /// nothing leads there within the patience of a gap, events were lost. Older words change
  /// nothing.
  void NoteHead(int64_t epoch, int64_t seq);

  /// Whether the state topic is to be read for this table now.
  bool WantsList(MonoTime now) const;
  /// The reading has begun; it has ended, all its pages were taken. When kNeedsHelp comes back,
  /// it did not help and the publisher is to be asked for a snapshot.
  void ListBegins() { is_listing_ = true; }
  enum class ListEnd { kHelped, kNeedsHelp };
  ListEnd ListEnds(MonoTime now);

  /// Why a snapshot is wanted; nullopt: in step, as far as is known.
  const std::optional<RelistReason>& relist() const { return relist_; }
  /// Nothing is applied before a snapshot comes.
  bool is_held() const { return replica_.held_for.has_value(); }

  /// Groups of which something is kept, the open one included; and their bytes.
  size_t waiting_groups() const { return waiting_.size(); }
  size_t waiting_bytes() const { return waiting_bytes_; }
  /// Groups that the publisher has told of and that are not applied; 0 when it is not known.
  int64_t lag() const;

  /// All that decides what it will do: who has the same text does the same. For tests and reports
  /// of bugs.
  std::string Describe(MonoTime now) const;

 private:
  struct OpenGroup {
    std::map<size_t, EventPart> parts;
    size_t count = 0;
    Digest digest;
    MonoTime since;

    bool is_whole() const { return parts.size() == count; }
  };
  using Place = std::pair<int64_t, int64_t>;  // epoch, seq

  void TakePart(EventPart part, MonoTime now, Decisions& decisions);
  bool IsNext(const Place& place) const;
  bool HasRoom(const EventPart& part, bool is_new) const;
  void TakePage(EventPart page, MonoTime now, Decisions& decisions);
  void Drain(MonoTime now, Decisions& decisions);
  void ApplyNext(OpenGroup open, MonoTime now, Decisions& decisions);
  void Replace(OpenGroup pages, Decisions& decisions);
  void Want(RelistReason reason, bool holds, MonoTime now, Decisions& decisions);
  void Settle(MonoTime now, Decisions& decisions);
  /// What keeps the groups that wait from being applied, once it has lasted too long.
  std::optional<RelistReason> Trouble(MonoTime now);
  void Drop(std::map<Place, OpenGroup>::iterator group);
  void Remember(const EventPart& part);
  bool IsKnown(const EventPart& part) const;

  Replica replica_;
  SubscriberLimits limits_;
  std::map<Place, OpenGroup> waiting_;
  size_t waiting_bytes_ = 0;
  std::optional<Place> pages_of_;
  OpenGroup pages_;
  size_t pages_bytes_ = 0;
  std::optional<RelistReason> relist_;
  bool is_listing_ = false;
  std::optional<MonoTime> list_after_;
  std::optional<MonoTime> gap_since_;
  Place head_{0, 0};      // seen or told of
  Place bookmark_{0, 0};  // told of

  /// Hashes of the parts that were applied last, to tell a repeat from a conflict.
  struct KnownPart {
    int64_t seq;
    size_t index;
    uint64_t hash;
  };
  std::deque<KnownPart> known_;
};

}  // namespace tidemark::change
