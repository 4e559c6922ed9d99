#include "sink/hive_catalog.h"

#include <ThriftHiveMetastore.h>
#include <fmt/format.h>
#include <thrift/TApplicationException.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TVirtualTransport.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/utf8.h"
#include "sink/budget_socket_internal.h"

namespace tidemark::sink {

namespace {

namespace thrift = apache::thrift;
using thrift::transport::TTransportException;

/// A million partitions' names.
constexpr int kMessageBytesMax = 512 << 20;
constexpr int16_t kAllPartitions = -1;
/// HIVE-26882: the alteration is made only if the property still has the value.
constexpr const char* kExpectedKey = "expected_parameter_key";
constexpr const char* kExpectedValue = "expected_parameter_value";
/// Else the server lists the table's files at each alteration.
constexpr const char* kNoStatistics = "DO_NOT_UPDATE_STATS";
constexpr size_t kQuotedBytesMax = 300;
/// Rounds in a row in which some batch was refused.
constexpr int kBatchTriesMax = 5;
/// Fewer partitions are not shared out among the connections: a transaction costs something too.
constexpr size_t kSharedBatchMin = 100;
/// A refused batch is halved as long as its halves have so many partitions.
constexpr size_t kHalfBatchMin = 50;

std::string Quoted(std::string_view text) {
  return Printable(std::string(text.substr(0, kQuotedBytesMax)));
}

/// What Thrift reads from and writes to. Its methods throw what Thrift expects.
class SocketTransport final : public thrift::transport::TVirtualTransport<SocketTransport> {
 public:
  explicit SocketTransport(std::shared_ptr<thrift::TConfiguration> configuration)
      : TVirtualTransport() {
    setConfiguration(std::move(configuration));
  }

  void Use(const Budget& budget) { budget_ = budget; }
  BudgetSocket& socket() { return socket_; }
  const std::optional<Error>& error() const { return error_; }

  bool isOpen() const override { return socket_.is_open(); }
  void close() override { socket_.Close(); }

  uint32_t read(uint8_t* into, uint32_t size) {
    auto got = socket_.Read(into, size, budget_);
    if (!got) End(std::move(got).error());
    return static_cast<uint32_t>(*got);
  }
  void write(const uint8_t* bytes, uint32_t size) {
    auto status = socket_.Write(bytes, size, budget_);
    if (!status) End(std::move(status).error());
  }

 private:
  [[noreturn]] void End(Error error) {
    error_ = std::move(error);
    // The one way out of Thrift's code; caught in Connection::Call.
    std::rethrow_exception(std::make_exception_ptr(
        TTransportException(TTransportException::UNKNOWN, error_->message)));
  }

  BudgetSocket socket_;
  Budget budget_;
  std::optional<Error> error_;
};

// Negotiation of Thrift's SASL transport: one byte of status, four of length, the payload.
enum SaslStatus : uint8_t { kStart = 1, kOk = 2, kBad = 3, kError = 4, kComplete = 5 };
constexpr size_t kSaslBytesMax = 64 << 10;

Status SendSasl(BudgetSocket& socket, SaslStatus status, std::string_view payload,
                const Budget& budget) {
  std::string message(1, static_cast<char>(status));
  const auto size = static_cast<uint32_t>(payload.size());
  for (const int shift : {24, 16, 8, 0}) message += static_cast<char>((size >> shift) & 0xFF);
  message += payload;
  return socket.Write(reinterpret_cast<const uint8_t*>(message.data()), message.size(), budget);
}

Status ReadWhole(BudgetSocket& socket, uint8_t* into, size_t size, const Budget& budget) {
  while (size > 0) {
    TRY_ASSIGN(const size_t got, socket.Read(into, size, budget));
    into += got;
    size -= got;
  }
  return {};
}

Status LogIn(BudgetSocket& socket, const HiveOptions& options, const Budget& budget) {
  TRY(SendSasl(socket, kStart, "PLAIN", budget));
  const std::string zero(1, '\0');
  TRY(SendSasl(socket, kOk, zero + options.user + zero + options.password, budget));
  uint8_t head[5];
  TRY(ReadWhole(socket, head, sizeof head, budget));
  const size_t size =
      (size_t{head[1]} << 24) | (size_t{head[2]} << 16) | (size_t{head[3]} << 8) | size_t{head[4]};
  if (size > kSaslBytesMax)
    return Fail(ErrorKind::kUnsupported, "the server does not speak SASL as the metastore does");
  std::string payload(size, '\0');
  TRY(ReadWhole(socket, reinterpret_cast<uint8_t*>(payload.data()), size, budget));
  if (head[0] == kComplete) return {};
  return Fail(ErrorKind::kDenied,
              fmt::format("the metastore does not let us in: answer={}", Quoted(payload)));
}

/// MetaException is what the server says of everything: of a lost race, and of its own database.
ErrorKind KindOfMetaException(std::string_view message) {
  if (message.contains("The table has been modified")) return ErrorKind::kConflict;
  return ErrorKind::kUnavailable;
}

std::unexpected<Error> FailAs(ErrorKind kind, std::string_view exception,
                              std::string_view message) {
  return Fail(kind, fmt::format("the metastore refused: exception={} message={}", exception,
                                Quoted(message)));
}

CatalogTable FromHive(const hms::Table& table) {
  CatalogTable read;
  read.database = table.dbName;
  read.name = table.tableName;
  read.location = table.sd.location;
  for (const auto& column : table.sd.cols)
    read.columns.push_back({column.name, column.type, column.comment});
  for (const auto& key : table.partitionKeys)
    read.partition_keys.push_back({key.name, key.type, key.comment});
  read.input_format = table.sd.inputFormat;
  read.output_format = table.sd.outputFormat;
  read.serde = table.sd.serdeInfo.serializationLib;
  read.serde_properties = table.sd.serdeInfo.parameters;
  read.properties = table.parameters;
  read.is_view = table.tableType.contains("VIEW");
  return read;
}

std::vector<hms::FieldSchema> HiveColumns(const std::vector<CatalogColumn>& columns) {
  std::vector<hms::FieldSchema> fields;
  for (const auto& column : columns) {
    hms::FieldSchema field;
    field.__set_name(column.name);
    field.__set_type(column.type);
    if (!column.comment.empty()) field.__set_comment(column.comment);
    fields.push_back(std::move(field));
  }
  return fields;
}

void SetStorage(hms::StorageDescriptor& storage, const CatalogTable& table) {
  storage.__set_cols(HiveColumns(table.columns));
  storage.__set_location(table.location);
  storage.__set_inputFormat(table.input_format);
  storage.__set_outputFormat(table.output_format);
  hms::SerDeInfo serde = storage.serdeInfo;
  serde.__set_serializationLib(table.serde);
  serde.__set_parameters(table.serde_properties);
  storage.__set_serdeInfo(serde);
}

hms::Table NewTable(const CatalogTable& table, const std::string& owner) {
  hms::Table made;
  made.__set_dbName(table.database);
  made.__set_tableName(table.name);
  made.__set_owner(owner);
  made.__set_tableType("EXTERNAL_TABLE");
  hms::StorageDescriptor storage;
  storage.__set_numBuckets(-1);
  SetStorage(storage, table);
  made.__set_sd(storage);
  made.__set_partitionKeys(HiveColumns(table.partition_keys));
  auto parameters = table.properties;
  parameters[kNoStatistics] = "true";  // the server takes it out again
  made.__set_parameters(parameters);
  return made;
}

}  // namespace

/// One connection to the server.
class HiveCatalog::Connection {
 public:
  Connection() {
    // By value: the library declares the constant and has no place for it.
    constexpr int kDepthMax = thrift::TConfiguration::DEFAULT_RECURSION_DEPTH;
    const auto configuration =
        std::make_shared<thrift::TConfiguration>(kMessageBytesMax, kMessageBytesMax, kDepthMax);
    socket_ = std::make_shared<SocketTransport>(configuration);
    configuration_ = configuration;
  }

  bool is_open() const { return client_ != nullptr; }
  void Close() {
    client_.reset();
    socket_->socket().Close();
  }

  Status Open(const HiveOptions& options, const HiveAddress& address, const Budget& budget) {
    Close();
    TRY(socket_->socket().Connect(address.host, address.port, budget));
    std::shared_ptr<thrift::transport::TTransport> transport;
    if (options.password.empty()) {
      transport = std::make_shared<thrift::transport::TBufferedTransport>(socket_, configuration_);
    } else {
      auto status = LogIn(socket_->socket(), options, budget);
      if (!status) {
        Close();
        return status;
      }
      transport = std::make_shared<thrift::transport::TFramedTransport>(socket_, configuration_);
    }
    client_ = std::make_unique<hms::ThriftHiveMetastoreClient>(
        std::make_shared<thrift::protocol::TBinaryProtocol>(transport));
    if (!options.user.empty() && options.password.empty()) {
      std::vector<std::string> groups;
      TRY(Call(budget, [&](auto& client) { client.set_ugi(groups, options.user, {}); }));
    }
    return {};
  }

  /// Runs `work` on the client. What it throws becomes an Error; after one of the transport's the
  /// connection is closed.
  template <class Work>
  Status Call(const Budget& budget, Work work) {
    socket_->Use(budget);
    try {
      work(*client_);
      return {};
    } catch (const hms::AlreadyExistsException&) {
      return {};
    } catch (const hms::NoSuchObjectException& e) {
      return FailAs(ErrorKind::kNotFound, "NoSuchObjectException", e.message);
    } catch (const hms::InvalidOperationException& e) {
      return FailAs(ErrorKind::kInvalidArgument, "InvalidOperationException", e.message);
    } catch (const hms::InvalidObjectException& e) {
      return FailAs(ErrorKind::kInvalidArgument, "InvalidObjectException", e.message);
    } catch (const hms::MetaException& e) {
      return FailAs(KindOfMetaException(e.message), "MetaException", e.message);
    } catch (const thrift::TApplicationException& e) {
      // The connection is in step only after an answer that was understood.
      Close();
      const bool is_unknown = e.getType() == thrift::TApplicationException::UNKNOWN_METHOD;
      return FailAs(is_unknown ? ErrorKind::kUnsupported : ErrorKind::kUnavailable,
                    "TApplicationException", e.what());
    } catch (const std::exception& e) {
      Close();
      if (socket_->error()) return std::unexpected(*socket_->error());
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("the metastore's answer is not understood: {}", Quoted(e.what())));
    }
  }

 private:
  std::shared_ptr<thrift::TConfiguration> configuration_;
  std::shared_ptr<SocketTransport> socket_;
  std::unique_ptr<hms::ThriftHiveMetastoreClient> client_;
};

struct HiveCatalog::Read {
  hms::Table table;
};

Result<HiveAddress> ParseHiveAddress(std::string_view text) {
  constexpr std::string_view kScheme = "thrift://";
  const auto refuse = [&] {
    return Fail(ErrorKind::kInvalidArgument,
                "an address such as thrift://metastore:9083 is wanted");
  };
  if (!text.starts_with(kScheme)) return refuse();
  text.remove_prefix(kScheme.size());
  while (text.ends_with('/')) text.remove_suffix(1);
  HiveAddress address;
  size_t colon = text.rfind(':');
  if (text.ends_with(']')) colon = std::string_view::npos;
  std::string_view host = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (error != std::errc{} || end != port.data() + port.size() || address.port == 0)
      return refuse();
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || host.find_first_of("/@?# ") != std::string_view::npos) return refuse();
  address.host = host;
  return address;
}

HiveCatalog::HiveCatalog(HiveOptions options)
    : options_(std::move(options)), read_(std::make_unique<Read>()) {
  options_.connections = std::clamp<size_t>(options_.connections, 1, kHiveConnectionsMax);
  options_.batch = std::max<size_t>(options_.batch, 1);
  for (size_t i = 0; i < options_.connections; ++i)
    connections_.push_back(std::make_unique<Connection>());
}

HiveCatalog::~HiveCatalog() = default;

std::string_view HiveCatalog::cure_of_refusal() const {
  return "drop the table in the metastore (it is external, its data stays) and resume the sink, "
         "which makes it anew; where only the change of a type was refused, set "
         "hive.metastore.disallow.incompatible.col.type.changes=false in the metastore and resume";
}

Result<HiveCatalog::Connection*> HiveCatalog::Connected(size_t index, const Budget& budget) {
  Connection& connection = *connections_[index];
  if (connection.is_open()) return &connection;
  std::optional<Error> first;
  for (const auto& address : options_.addresses) {
    auto status = connection.Open(options_, address, budget);
    if (status) return &connection;
    connection.Close();
    if (!first) first = std::move(status).error();
  }
  if (!first) first = Error{ErrorKind::kInvalidArgument, "no address of a metastore is given"};
  return std::unexpected(*std::move(first));
}

/// Work on the first connection. One that the server closed while it was idle shows only when it is
/// used, so what is lost then is tried once more on a new one: all our calls may be repeated.
template <class Work>
auto HiveCatalog::OnFirst(const Budget& budget, Work work)
    -> decltype(work(std::declval<Connection&>())) {
  const bool was_open = connections_[0]->is_open();
  TRY_ASSIGN(Connection * connection, Connected(0, budget));
  auto result = work(*connection);
  if (result || connection->is_open() || !was_open ||
      result.error().kind != ErrorKind::kUnavailable || budget.is_over())
    return result;
  TRY_ASSIGN(connection, Connected(0, budget));
  return work(*connection);
}

Status HiveCatalog::Check(const Budget& budget) {
  return OnFirst(budget, [&](Connection& connection) -> Status {
    auto status = connection.Call(budget, [&](auto& client) {
      hms::Database database;
      client.get_database(database, "default");
    });
    // A server without that database answers all the same.
    if (!status && status.error().kind == ErrorKind::kNotFound) return {};
    return status;
  });
}

Result<std::optional<CatalogTable>> HiveCatalog::ReadTable(const std::string& database,
                                                           const std::string& name,
                                                           const Budget& budget) {
  const auto read = [&](Connection& connection) -> Status {
    return connection.Call(budget, [&](auto& client) {
      hms::GetTableRequest request;
      request.__set_dbName(database);
      request.__set_tblName(name);
      hms::GetTableResult result;
      client.get_table_req(result, request);
      read_->table = std::move(result.table);
    });
  };
  const auto read_old = [&](Connection& connection) -> Status {
    return connection.Call(budget,
                           [&](auto& client) { client.get_table(read_->table, database, name); });
  };
  auto status = OnFirst(budget, read);
  if (!status && status.error().kind == ErrorKind::kUnsupported) status = OnFirst(budget, read_old);
  if (status) return std::optional(FromHive(read_->table));
  if (status.error().kind == ErrorKind::kNotFound) return std::optional<CatalogTable>();
  return std::unexpected(std::move(status).error());
}

Status HiveCatalog::CreateTable(const CatalogTable& table, const Budget& budget) {
  const hms::Table made = NewTable(table, options_.user);
  auto status = OnFirst(budget, [&](Connection& connection) {
    return connection.Call(budget, [&](auto& client) { client.create_table(made); });
  });
  // Whoever makes the database can have the table without resuming anything.
  const bool lacks_database = !status && (status.error().kind == ErrorKind::kNotFound ||
                                          (status.error().kind == ErrorKind::kInvalidArgument &&
                                           status.error().message.contains("database")));
  if (lacks_database)
    return Fail(ErrorKind::kUnavailable,
                fmt::format("the database is not in the metastore, create it: database={} ({})",
                            table.database, status.error().message));
  return status;
}

Status HiveCatalog::AlterTable(const CatalogTable& before, const CatalogTable& after,
                               const Budget& budget) {
  if (read_->table.dbName != before.database || read_->table.tableName != before.name)
    return Fail(ErrorKind::kInternal, "a table is altered that was not read last");
  hms::Table changed = read_->table;
  SetStorage(changed.sd, after);
  changed.__set_parameters(after.properties);
  hms::EnvironmentContext context;
  context.properties[kNoStatistics] = "true";
  const auto seq = before.properties.find(std::string(kSeqKey));
  if (seq != before.properties.end() && !seq->second.empty()) {
    context.properties[kExpectedKey] = seq->first;
    context.properties[kExpectedValue] = seq->second;
  }
  context.__isset.properties = true;
  return OnFirst(budget, [&](Connection& connection) {
    return connection.Call(budget, [&](auto& client) {
      client.alter_table_with_environment_context(before.database, before.name, changed, context);
    });
  });
}

Status HiveCatalog::DropTable(const std::string& database, const std::string& name,
                              const Budget& budget) {
  auto status = OnFirst(budget, [&](Connection& connection) {
    return connection.Call(
        budget, [&](auto& client) { client.drop_table(database, name, /*deleteData=*/false); });
  });
  if (!status && status.error().kind == ErrorKind::kNotFound) return {};
  return status;
}

Result<std::vector<std::vector<std::string>>> HiveCatalog::ListPartitions(const CatalogTable& table,
                                                                          const Budget& budget) {
  std::vector<std::string> names;
  TRY(OnFirst(budget, [&](Connection& connection) {
    return connection.Call(budget, [&](auto& client) {
      client.get_partition_names(names, table.database, table.name, kAllPartitions);
    });
  }));
  std::vector<std::vector<std::string>> partitions;
  partitions.reserve(names.size());
  for (const auto& name : names) {
    TRY_ASSIGN(auto values, ValuesOfName(name, table.partition_keys.size()));
    partitions.push_back(std::move(values));
  }
  return partitions;
}

/// Sends a batch on each connection and then reads the answers: the server works on them side by
/// side, and we need no threads. A database that cannot take so many transactions at once, or none
/// so large, refuses some of them: those are tried again in halves, half as many at a time.
template <class Send, class Receive>
Status HiveCatalog::InBatches(size_t count, const Budget& budget, Send send, Receive receive) {
  std::deque<Range> waiting;
  size_t width = connections_.size();
  const size_t share = std::max((count + width - 1) / width, kSharedBatchMin);
  const size_t batch = std::min(options_.batch, share);
  for (size_t begin = 0; begin < count; begin += batch)
    waiting.push_back({begin, std::min(count, begin + batch)});
  int failures = 0;
  while (!waiting.empty()) {
    TRY(budget.Check());
    std::deque<Range> sent;
    std::deque<Range> refused;
    Status failed = SendSome(width, waiting, sent, budget, send);
    for (size_t i = 0; i < sent.size(); ++i) {
      auto status = connections_[i]->Call(budget, receive);
      if (status) continue;
      // The server's thread may keep its broken transaction for as long as the connection lives.
      connections_[i]->Close();
      const auto [begin, end] = sent[i];
      const size_t half = (end - begin) / 2;
      if (half >= kHalfBatchMin) {
        refused.push_back({begin, begin + half});
        refused.push_back({begin + half, end});
      } else {
        refused.push_back({begin, end});
      }
      if (failed) failed = std::move(status);
    }
    if (failed) {
      failures = 0;
      continue;
    }
    const bool may_heal = failed.error().kind == ErrorKind::kUnavailable;
    if (!may_heal || ++failures == kBatchTriesMax) {
      // Answers that nobody read would be taken for those of the next calls.
      for (const auto& connection : connections_) connection->Close();
      return failed;
    }
    waiting.insert(waiting.begin(), refused.begin(), refused.end());
    width = std::max<size_t>(1, width / 2);
  }
  return {};
}

/// Moves ranges from `waiting` to `sent` as they go out, one a connection. A range that could not
/// be sent stays where it is.
template <class Send>
Status HiveCatalog::SendSome(size_t width, std::deque<Range>& waiting, std::deque<Range>& sent,
                             const Budget& budget, Send send) {
  while (sent.size() < width && !waiting.empty()) {
    const size_t i = sent.size();
    const bool was_open = connections_[i]->is_open();
    TRY_ASSIGN(Connection* const connection, Connected(i, budget));
    const Range range = waiting.front();
    const auto work = [&](auto& client) { send(client, range.begin, range.end); };
    auto status = connection->Call(budget, work);
    if (!status && was_open && !connection->is_open()) {
      TRY(Connected(i, budget));
      status = connection->Call(budget, work);
    }
    if (!status) return status;
    waiting.pop_front();
    sent.push_back(range);
  }
  return {};
}

Status HiveCatalog::AddPartitions(const CatalogTable& table,
                                  std::span<const PartitionView> partitions, const Budget& budget) {
  hms::StorageDescriptor storage = read_->table.sd;
  SetStorage(storage, table);
  const auto send = [&](hms::ThriftHiveMetastoreClient& client, size_t begin, size_t end) {
    hms::AddPartitionsRequest request;
    request.__set_dbName(table.database);
    request.__set_tblName(table.name);
    request.__set_ifNotExists(true);
    request.__set_needResult(false);
    for (const auto& each : partitions.subspan(begin, end - begin)) {
      hms::Partition partition;
      partition.__set_dbName(table.database);
      partition.__set_tableName(table.name);
      partition.__set_values(CatalogValues(each));
      storage.__set_location(PartitionLocation(table, each));
      partition.__set_sd(storage);
      partition.__set_parameters({});
      request.parts.push_back(std::move(partition));
    }
    client.send_add_partitions_req(request);
  };
  return InBatches(partitions.size(), budget, send, [](hms::ThriftHiveMetastoreClient& client) {
    hms::AddPartitionsResult result;
    client.recv_add_partitions_req(result);
  });
}

Status HiveCatalog::DropPartitions(const CatalogTable& table,
                                   std::span<const PartitionView> partitions,
                                   const Budget& budget) {
  const auto send = [&](hms::ThriftHiveMetastoreClient& client, size_t begin, size_t end) {
    hms::DropPartitionsRequest request;
    request.__set_dbName(table.database);
    request.__set_tblName(table.name);
    request.__set_deleteData(false);
    request.__set_ifExists(true);
    request.__set_needResult(false);
    std::vector<std::string> names;
    for (const auto& each : partitions.subspan(begin, end - begin))
      names.push_back(PartitionName(table.partition_keys, CatalogValues(each)));
    request.parts.__set_names(names);
    client.send_drop_partitions_req(request);
  };
  return InBatches(partitions.size(), budget, send, [](hms::ThriftHiveMetastoreClient& client) {
    hms::DropPartitionsResult result;
    client.recv_drop_partitions_req(result);
  });
}

}  // namespace tidemark::sink
