/// What a mirror keeps between restarts: its tables, and how far it has read. One transaction holds
/// both, so that neither is ever ahead of the other (change-feed C7).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "change/subscriber.h"
#include "kafka/positions.h"
#include "state/sql_session.h"
#include "state/state_store.h"

namespace tidemark::feed {

/// One table to be written.
struct ReplicaChange {
  const change::Replica* replica = nullptr;
  /// Partitions that came, went or were touched; those that `replica` holds are written, the others
  /// removed.
  const std::set<std::string>* paths = nullptr;
  bool is_whole = false;  ///< all partitions are written anew, whatever `paths` says
};

struct StoredMirror {
  std::vector<change::Replica> replicas{};  ///< by uid
  std::map<kafka::PartitionId, kafka::Offset> offsets{};
  /// Tables that could not be read: they begin anew. (uid, why)
  std::vector<std::pair<std::string, std::string>> damaged{};
};

/// On any database of state/. Errors as StateStore's. One caller at a time.
class MirrorStore {
  struct Private {};

 public:
  /// Brings the tables up to date. `feed` names what is followed (the event topic): a mirror that
  /// was of another feed is forgotten, for its offsets mean nothing here. kUnsupported when a newer
  /// release has written it.
  static Result<std::unique_ptr<MirrorStore>> Open(std::unique_ptr<state::SqlSession> session,
                                                   const std::string& feed);

  /// A table whose partitions do not make its digest, or that cannot be read, is left out.
  Result<StoredMirror> Load();

  /// All or nothing.
  Status Save(std::span<const ReplicaChange> changes,
              const std::map<kafka::PartitionId, kafka::Offset>& offsets);

  MirrorStore(Private, std::unique_ptr<state::SqlSession> session)
      : session_(std::move(session)) {}

 private:
  std::unique_ptr<state::SqlSession> session_;
};

/// In the folder of the state or its database. A damaged SQLite file is put aside and a new one
/// begun: the mirror lists its tables again.
Result<std::unique_ptr<MirrorStore>> OpenMirrorStore(const state::StateOptions& options,
                                                     const std::string& feed);

}  // namespace tidemark::feed
