#include "lake/hudi/archive.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "lake/hudi/archive_content.h"

namespace tidemark::lake::hudi {
namespace {

constexpr int kArchiveTries = 4;

// An instant is written in the zone of its writer, at most 14 hours ahead of UTC; two more are for
// clocks that differ.
constexpr std::chrono::hours kClockMargin{16};

// 17 digits that no instant of the file exceeds.
std::string NewestPossible(const ArchiveFile& file) {
  const auto time = file.modified + kClockMargin;
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  if (date.year() < std::chrono::year(0) || date.year() > std::chrono::year(9999)) {
    return std::string(17, '9');
  }
  return fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}{:03}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::string ComparableWord(const Instant& instant) {
  if (instant.action == Action::kUnknown) return instant.action_name;
  return std::string(ActionName(ComparableAction(instant.action)));
}

// With the trailing '/'.
std::string_view FolderOf(std::string_view key) {
  return key.substr(0, key.rfind('/') + 1);
}

}  // namespace

Result<ArchiveWalk> ArchiveWalk::Open(const storage::ObjectStore& store,
                                      const TableProperties& properties, ColumnReaderSource columns,
                                      const ArchiveOptions& options, const Budget& budget) {
  ArchiveWalk walk(store, std::move(columns), options);
  TRY_ASSIGN(ArchiveFiles found, FindArchiveFiles(store, properties, budget));
  walk.files_ = std::move(found.files);
  walk.is_whole_ = found.is_whole;
  walk.findings_ = std::move(found.findings);
  return walk;
}

// Whether no unread file can hold the newest instant at hand, or a newer one.
bool ArchiveWalk::IsNewestSafe() const {
  if (next_file_ == files_.size()) return true;
  return !held_.empty() && held_.rbegin()->first.first > NewestPossible(files_[next_file_]);
}

Result<std::optional<ArchivedInstant>> ArchiveWalk::Next(const Budget& budget) {
  while (!IsNewestSafe()) {
    TRY(budget.Check());
    TRY(ReadFile(files_[next_file_], budget));
    ++next_file_;
  }
  if (held_.empty()) return std::nullopt;
  ArchivedInstant newest = std::move(held_.extract(std::prev(held_.end())).mapped());
  held_text_ -= ArchivedTextSize(newest);
  if (!newest.defect.empty()) {
    findings_.push_back({"unreadable_commit", newest.instant.file,
                         fmt::format("{} requested={}", newest.defect, newest.instant.requested)});
  }
  return newest;
}

Status ArchiveWalk::ReadFile(const ArchiveFile& file, const Budget& budget) {
  if (file.size > kArchiveFileSizeMax) {
    is_whole_ = false;
    findings_.push_back({"oversized_archive_file", file.key,
                         fmt::format("archive file is over the bound size={} max={}", file.size,
                                     kArchiveFileSizeMax)});
    return {};
  }
  // Before the download: without the module it would be for nothing.
  const ColumnReader* columns = nullptr;
  if (file.format == ArchiveFormat::kParquet) {
    if (!columns_) {
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("no reader for Parquet is at hand file={}", file.key));
    }
    TRY_ASSIGN(columns, columns_());
  }
  const auto bytes = store_->Read(file.key, budget);
  if (!bytes && bytes.error().kind == ErrorKind::kNotFound) {
    return Fail(ErrorKind::kConflict,
                fmt::format("the archive changed while it was read missing={}", file.key));
  }
  if (!bytes) return std::unexpected(bytes.error());
  ++files_read_;
  ArchiveContent content = columns == nullptr
                               ? ReadArchiveLog(*bytes, file.key, options_)
                               : ReadArchiveHistory(*bytes, file.key, *columns, options_);
  if (!content.findings.empty() && file.format == ArchiveFormat::kLog) {
    TRY_ASSIGN(const auto plan, ReadMergePlan(file, budget));
    if (plan && IsUnfinishedMerge(file, *plan)) content = {std::move(content.instants), true, {}};
  }
  is_whole_ = is_whole_ && content.is_whole;
  std::ranges::move(content.findings, std::back_inserter(findings_));
  for (auto& archived : content.instants) TRY(Keep(std::move(archived), file));
  return {};
}

Status ArchiveWalk::Keep(ArchivedInstant archived, const ArchiveFile& file) {
  archived.instant.file = file.key;
  const auto& word = archived.instant.action_name;
  if (archived.instant.action == Action::kUnknown && unknown_words_.insert(word).second) {
    findings_.push_back({"unknown_action", file.key,
                         fmt::format("an action this program does not know action={}", word)});
  }
  std::pair<std::string, std::string> key{archived.instant.requested,
                                          ComparableWord(archived.instant)};
  const auto known = held_.find(key);
  if (known == held_.end()) {
    held_text_ += ArchivedTextSize(archived);
    held_.emplace(std::move(key), std::move(archived));
  } else {
    held_text_ -= ArchivedTextSize(known->second);
    MergeArchived(known->second, std::move(archived));
    held_text_ += ArchivedTextSize(known->second);
  }
  if (held_.size() > kArchivedInstantsMax || held_text_ > kArchivedTextMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("the archive holds more than is read at once instants_max={} "
                            "text_max={} file={}",
                            kArchivedInstantsMax, kArchivedTextMax, file.key));
  }
  return {};
}

// nullopt when there is no plan that can be read, which is what an archive is mostly like.
Result<std::optional<ArchiveMergePlan>> ArchiveWalk::ReadMergePlan(const ArchiveFile& file,
                                                                   const Budget& budget) const {
  const auto key = std::string(FolderOf(file.key)) + std::string(kArchiveMergePlanName);
  const auto bytes = store_->Read(key, budget);
  if (!bytes && bytes.error().kind == ErrorKind::kNotFound) return std::nullopt;
  if (!bytes) return std::unexpected(bytes.error());
  auto plan = ParseArchiveMergePlan(*bytes);
  if (!plan) return std::nullopt;
  return *std::move(plan);
}

// A merged file is a copy until its candidates are removed; a writer that died leaves it cut off,
// and nothing is lost with it.
bool ArchiveWalk::IsUnfinishedMerge(const ArchiveFile& file, const ArchiveMergePlan& plan) const {
  const auto folder = FolderOf(file.key);
  if (file.key != std::string(folder) + plan.merged) return false;
  return std::ranges::all_of(plan.candidates, [&](const std::string& candidate) {
    return std::ranges::find(files_, std::string(folder) + candidate, &ArchiveFile::key) !=
           files_.end();
  });
}

Result<Archive> ReadArchive(const storage::ObjectStore& store, const TableProperties& properties,
                            const ColumnReaderSource& columns, const ArchiveOptions& options,
                            const Budget& budget) {
  for (int next_try = 2;; ++next_try) {
    TRY_ASSIGN(auto walk, ArchiveWalk::Open(store, properties, columns, options, budget));
    Archive archive;
    size_t text = 0;
    while (true) {
      auto next = walk.Next(budget);
      if (!next && next.error().kind == ErrorKind::kConflict && next_try <= kArchiveTries) break;
      if (!next) return internal::Pass(next);
      if (!*next) {
        std::ranges::reverse(archive.instants);
        archive.is_whole = walk.is_whole();
        archive.files_read = walk.files_read();
        archive.findings = walk.TakeFindings();
        return archive;
      }
      text += ArchivedTextSize(**next);
      archive.instants.push_back(**std::move(next));
      if (archive.instants.size() > kArchivedInstantsMax || text > kArchivedTextMax) {
        return Fail(ErrorKind::kExhausted,
                    fmt::format("the archive holds more than is read at once instants_max={} "
                                "text_max={}",
                                kArchivedInstantsMax, kArchivedTextMax));
      }
    }
  }
}

}  // namespace tidemark::lake::hudi
