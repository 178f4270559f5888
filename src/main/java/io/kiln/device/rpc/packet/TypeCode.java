// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.packet;

import java.util.Arrays;
import java.util.Optional;

/** Type codes of TVM's packed calling convention. */
public enum TypeCode {
    INT(0),
    UINT(1),
    FLOAT(2),
    HANDLE(3),
    NULL(4),
    DATA_TYPE(5),
    DEVICE(6),
    TENSOR(7),
    OBJECT(8),
    MODULE(9),
    FUNCTION(10),
    STR(11),
    BYTES(12),
    ND_ARRAY(13),
    BOOL(15);

    private final int code;

    TypeCode(int code) {
        this.code = code;
    }

    /** The number on the wire. */
    public int code() {
        return code;
    }

    /** The type of a number. */
    public static Optional<TypeCode> of(long code) {
        return Arrays.stream(values()).filter(each -> each.code == code).findFirst();
    }
}
