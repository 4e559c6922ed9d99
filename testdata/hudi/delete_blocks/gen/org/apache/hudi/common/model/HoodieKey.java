package org.apache.hudi.common.model;

import java.io.Serializable;

/** The fields of the class of the same name in Hudi 0.8 to 0.13, which is what Kryo writes. */
public class HoodieKey implements Serializable {
  private final String recordKey;
  private final String partitionPath;

  public HoodieKey(String recordKey, String partitionPath) {
    this.recordKey = recordKey;
    this.partitionPath = partitionPath;
  }
}
