// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.frontend.tflite.flatbuffer.Field;

/** The schema's table {@code ExternalBuffer}: data of a constant in a file of a group, which has its name. */
public final class ExternalBuffer {
    /** Tensors refer to this number, not to the place in the list. */
    public static final Field.Int32 ID = new Field.Int32(0);

    public static final Field.Int32 GROUP = new Field.Int32(1);
    public static final Field.Int64 OFFSET = new Field.Int64(2);
    public static final Field.Int64 LENGTH = new Field.Int64(3);

    /** Name of a group's file: the only field of the schema's table {@code ExternalBufferGroup}. */
    public static final Field.Text GROUP_NAME = new Field.Text(0);

    private ExternalBuffer() {}
}
