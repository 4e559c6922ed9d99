// The part of the Hive Metastore's interface that tidemark calls: names, ids and types as in Hive's own
// hive_metastore.thrift (field ids: releases 2.3 to 4.0). Fields we neither read nor write are left out; Thrift skips
// them.
namespace cpp tidemark.sink.hms

struct FieldSchema {
  1: string name
  2: string type
  3: string comment
}

struct SerDeInfo {
  1: string name
  2: string serializationLib
  3: map<string, string> parameters
}

struct Order {
  1: string col
  2: i32 order
}

struct StorageDescriptor {
  1: list<FieldSchema> cols
  2: string location
  3: string inputFormat
  4: string outputFormat
  5: bool compressed
  6: i32 numBuckets
  7: SerDeInfo serdeInfo
  8: list<string> bucketCols
  9: list<Order> sortCols
  10: map<string, string> parameters
  12: optional bool storedAsSubDirectories
}

struct Table {
  1: string tableName
  2: string dbName
  3: string owner
  4: i32 createTime
  5: i32 lastAccessTime
  6: i32 retention
  7: StorageDescriptor sd
  8: list<FieldSchema> partitionKeys
  9: map<string, string> parameters
  10: string viewOriginalText
  11: string viewExpandedText
  12: string tableType
  17: optional string catName
  18: optional i32 ownerType
}

struct Partition {
  1: list<string> values
  2: string dbName
  3: string tableName
  4: i32 createTime
  5: i32 lastAccessTime
  6: StorageDescriptor sd
  7: map<string, string> parameters
  9: optional string catName
}

struct EnvironmentContext {
  1: map<string, string> properties
}

struct Database {
  1: string name
  2: string description
  3: string locationUri
  4: map<string, string> parameters
}

struct GetTableRequest {
  1: required string dbName
  2: required string tblName
  4: optional string catName
}

struct GetTableResult {
  1: required Table table
}

struct AddPartitionsRequest {
  1: required string dbName
  2: required string tblName
  3: required list<Partition> parts
  4: required bool ifNotExists
  5: optional bool needResult = true
  6: optional string catName
}

struct AddPartitionsResult {
  1: optional list<Partition> partitions
}

union RequestPartsSpec {
  1: list<string> names
}

struct DropPartitionsRequest {
  1: required string dbName
  2: required string tblName
  3: required RequestPartsSpec parts
  4: optional bool deleteData
  5: optional bool ifExists = true
  7: optional EnvironmentContext environmentContext
  8: optional bool needResult = true
  9: optional string catName
}

struct DropPartitionsResult {
  1: optional list<Partition> partitions
}

exception MetaException {
  1: string message
}

exception NoSuchObjectException {
  1: string message
}

exception AlreadyExistsException {
  1: string message
}

exception InvalidObjectException {
  1: string message
}

exception InvalidOperationException {
  1: string message
}

exception UnknownDBException {
  1: string message
}

service ThriftHiveMetastore {
  Database get_database(1: string name) throws (1: NoSuchObjectException o1, 2: MetaException o2)

  void create_table(1: Table tbl) throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2,
    3: MetaException o3, 4: NoSuchObjectException o4)
  void drop_table(1: string dbname, 2: string name, 3: bool deleteData) throws (1: NoSuchObjectException o1,
    2: MetaException o3)

  // Servers from 4.0 on have only the second one, servers before 2.3 only the first.
  Table get_table(1: string dbname, 2: string tbl_name) throws (1: MetaException o1, 2: NoSuchObjectException o2)
  GetTableResult get_table_req(1: GetTableRequest req) throws (1: MetaException o1, 2: NoSuchObjectException o2)

  void alter_table_with_environment_context(1: string dbname, 2: string tbl_name, 3: Table new_tbl,
    4: EnvironmentContext environment_context) throws (1: InvalidOperationException o1, 2: MetaException o2)

  AddPartitionsResult add_partitions_req(1: AddPartitionsRequest request) throws (1: InvalidObjectException o1,
    2: AlreadyExistsException o2, 3: MetaException o3)
  DropPartitionsResult drop_partitions_req(1: DropPartitionsRequest req) throws (1: NoSuchObjectException o1,
    2: MetaException o2)

  // max_parts is an i16: everything is -1, or a table of more than 32767 partitions comes cut off.
  list<string> get_partition_names(1: string db_name, 2: string tbl_name, 3: i16 max_parts) throws (
    1: NoSuchObjectException o1, 2: MetaException o2)

  list<string> set_ugi(1: string user_name, 2: list<string> group_names) throws (1: MetaException o1)
}
