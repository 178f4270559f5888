// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.frontend.tflite.flatbuffer.Field;

/** The schema's table {@code BlockwiseQuantization}: a scale for each block of a row; scales and zero points are tensors, by their indices. */
public final class BlockwiseQuantization {
    /** Its code in the schema's union {@code QuantizationDetails}. */
    public static final int CODE = 2;

    public static final Field.Int32 SCALES = new Field.Int32(0);

    /** -1 if all are 0. */
    public static final Field.Int32 ZERO_POINTS = new Field.Int32(1);

    public static final Field.Int32 BLOCK_SIZE = new Field.Int32(2);

    private BlockwiseQuantization() {}
}
