// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

/** How MIRROR_PAD mirrors, by its code in the schema. */
public enum MirrorPadMode {
    /** The element at the border is not repeated. */
    REFLECT(0),
    /** The element at the border is repeated. */
    SYMMETRIC(1);

    private final int code;

    MirrorPadMode(int code) {
        this.code = code;
    }

    /** Its code in a file. */
    public int code() {
        return code;
    }
}
