package org.apache.hudi.common.model;

import java.io.Serializable;

/** The fields of the class of the same name in Hudi 0.11 to 0.13, which is what Kryo writes. */
public class DeleteRecord implements Serializable {
  private final HoodieKey hoodieKey;
  private final Comparable<?> orderingVal;

  public DeleteRecord(HoodieKey hoodieKey, Comparable<?> orderingVal) {
    this.hoodieKey = hoodieKey;
    this.orderingVal = orderingVal;
  }
}
