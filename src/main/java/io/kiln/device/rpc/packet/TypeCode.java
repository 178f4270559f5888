// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.packet;

import java.util.Optional;

/** Type codes of TVM's packed calling convention; the codes are the constants' order. */
public enum TypeCode {
    INT,
    UINT,
    FLOAT,
    HANDLE,
    NULL,
    DATA_TYPE,
    DEVICE,
    TENSOR,
    OBJECT,
    MODULE,
    FUNCTION,
    STR,
    BYTES,
    ND_ARRAY;

    /** The number on the wire. */
    public int code() {
        return ordinal();
    }

    /** The type of a number. */
    public static Optional<TypeCode> of(long code) {
        return code < 0 || code >= values().length ? Optional.empty() : Optional.of(values()[(int) code]);
    }
}
