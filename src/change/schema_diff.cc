#include "change/schema_diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "change/columns_internal.h"

namespace tidemark::change {
namespace {

using Columns = std::span<const Column>;

std::map<std::string_view, size_t> ByName(Columns columns) {
  std::map<std::string_view, size_t> places;
  for (size_t i = 0; i < columns.size(); ++i) places.emplace(columns[i].name, i);
  return places;
}

/// Whether each column has an id of its own.
bool HaveIds(Columns columns) {
  std::set<int64_t> ids;
  return std::ranges::all_of(
      columns, [&](const Column& column) { return column.id && ids.insert(*column.id).second; });
}

/// Whether ids tell which column is which. Writers that lose them number the columns anew; then the
/// same name has another id, or a new column one that is not above all that were.
bool HaveIdsInCommon(Columns from, Columns to) {
  if (!HaveIds(from) || !HaveIds(to)) return false;
  const auto places = ByName(from);
  std::set<int64_t> ids;
  for (const Column& column : from) ids.insert(*column.id);
  return std::ranges::all_of(to, [&](const Column& column) {
    const auto found = places.find(column.name);
    if (found != places.end()) return from[found->second].id == column.id;
    return ids.empty() || ids.contains(*column.id) || *column.id > *ids.rbegin();
  });
}

void NumberInside(std::vector<Column>& columns, int64_t& next);

void NumberLevel(std::vector<Column>& columns, int64_t& next) {
  for (Column& column : columns) column.id = next++;
  NumberInside(columns, next);
}

void NumberInside(std::vector<Column>& columns, int64_t& next) {
  for (Column& column : columns) NumberLevel(column.children, next);
}

/// The ids that `from` gets when the ALTER that made `to` is the first to ask for them: Hudi counts
/// its columns level by level (AvroInternalSchemaConverter of 0.14 to 1.1), behind the meta columns
/// it has. nullopt where that is not how `to` was numbered, or its ids are those of `from` already.
std::optional<std::vector<Column>> Numbered(const std::vector<Column>& from,
                                            const std::vector<Column>& to) {
  if (!HaveIds(to) || HaveIdsInCommon(from, to)) return std::nullopt;
  const auto places = ByName(from);
  for (const Column& column : to) {
    const auto found = places.find(column.name);
    if (found == places.end()) continue;
    int64_t next = *column.id - static_cast<int64_t>(found->second);
    std::vector<Column> numbered = from;
    NumberLevel(numbered, next);
    if (HaveIdsInCommon(numbered, to)) return numbered;
    return std::nullopt;
  }
  return std::nullopt;
}

/// For each column of `to` its place in `from`; none twice.
std::vector<std::optional<size_t>> Match(Columns from, Columns to) {
  std::vector<std::optional<size_t>> matches(to.size());
  if (HaveIdsInCommon(from, to)) {
    std::map<int64_t, size_t> places;
    for (size_t i = 0; i < from.size(); ++i) places.emplace(*from[i].id, i);
    for (size_t i = 0; i < to.size(); ++i) {
      const auto found = places.find(*to[i].id);
      if (found == places.end()) continue;
      matches[i] = found->second;
      places.erase(found);
    }
    return matches;
  }
  auto places = ByName(from);
  for (size_t i = 0; i < to.size(); ++i) {
    const auto found = places.find(to[i].name);
    if (found == places.end()) continue;
    matches[i] = found->second;
    places.erase(found);
  }
  return matches;
}

/// Which of the matched columns keep their order: a longest rising run of places.
std::vector<bool> Staying(const std::vector<std::optional<size_t>>& matches) {
  std::vector<size_t> ends;  // by length - 1: the column that ends the best run of that length
  std::vector<std::optional<size_t>> before(matches.size());
  for (size_t i = 0; i < matches.size(); ++i) {
    if (!matches[i]) continue;
    const auto end = std::ranges::lower_bound(ends, *matches[i], {},
                                              [&](size_t column) { return *matches[column]; });
    if (end != ends.begin()) before[i] = *std::prev(end);
    if (end == ends.end())
      ends.push_back(i);
    else
      *end = i;
  }
  std::vector<bool> staying(matches.size(), false);
  std::optional<size_t> column = ends.empty() ? std::nullopt : std::optional(ends.back());
  for (; column; column = before[*column]) staying[*column] = true;
  return staying;
}

std::string NullWord(const Column& column) {
  return column.is_nullable ? "NULL" : "NOT NULL";
}

class Differ {
 public:
  void Compare(Columns from, Columns to) {
    const auto matches = Match(from, to);
    std::vector<bool> is_kept(from.size(), false);
    for (const auto& match : matches)
      if (match) is_kept[*match] = true;
    for (size_t i = 0; i < from.size(); ++i)
      if (!is_kept[i]) Add(SchemaOp::kDrop, from[i].path, from[i].type, "");
    const auto staying = Staying(matches);
    for (size_t i = 0; i < to.size(); ++i) {
      if (!matches[i]) {
        Add(SchemaOp::kAdd, to[i].path, "", to[i].type);
        continue;
      }
      const Column& old = from[*matches[i]];
      CompareColumn(old, to[i]);
      if (!staying[i]) {
        Add(SchemaOp::kReorder, to[i].path, std::to_string(old.position),
            std::to_string(to[i].position));
      }
      const auto word = ContainerWord(old.type);
      if (!word.empty() && word == ContainerWord(to[i].type)) Compare(old.children, to[i].children);
    }
  }
  std::vector<SchemaDiff> Take() && { return std::move(diffs_); }

 private:
  void CompareColumn(const Column& from, const Column& to) {
    if (from.name != to.name) Add(SchemaOp::kRename, to.path, from.path, to.path);
    const auto word = ContainerWord(from.type);
    const bool holds_the_same = !word.empty() && word == ContainerWord(to.type);
    if (from.type != to.type && !holds_the_same) Add(SchemaOp::kType, to.path, from.type, to.type);
    if (from.is_nullable != to.is_nullable)
      Add(SchemaOp::kNullability, to.path, NullWord(from), NullWord(to));
    if (from.default_json != to.default_json)
      Add(SchemaOp::kDefault, to.path, from.default_json.value_or(""),
          to.default_json.value_or(""));
    if (from.comment != to.comment) Add(SchemaOp::kComment, to.path, from.comment, to.comment);
  }

  void Add(SchemaOp op, const std::string& path, std::string from, std::string to) {
    diffs_.push_back({op, path, std::move(from), std::move(to)});
  }

  std::vector<SchemaDiff> diffs_;
};

}  // namespace

std::string_view SchemaOpName(SchemaOp op) {
  switch (op) {
    case SchemaOp::kDrop: return "DROP";
    case SchemaOp::kRename: return "RENAME";
    case SchemaOp::kAdd: return "ADD";
    case SchemaOp::kType: return "TYPE";
    case SchemaOp::kNullability: return "NULLABILITY";
    case SchemaOp::kDefault: return "DEFAULT";
    case SchemaOp::kComment: return "COMMENT";
    case SchemaOp::kReorder: return "REORDER";
  }
  return "";
}

std::vector<SchemaDiff> DiffSchemas(const Schema& from, const Schema& to) {
  Differ differ;
  if (const auto numbered = Numbered(from.columns, to.columns))
    differ.Compare(*numbered, to.columns);
  else
    differ.Compare(from.columns, to.columns);
  return std::move(differ).Take();
}

}  // namespace tidemark::change
