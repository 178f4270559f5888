// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.Locale;
import java.util.stream.Stream;

/** Layout of the images and volumes that a model takes and gives: tensors of four or five dimensions. */
public enum OnnxIo {
    /** The model's own: channels before the spatial dimensions. */
    MODEL,
    /** Channels last, as inside; saves the transposes at the border. */
    NHWC;

    /** The value of {@code kiln.onnx.io}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The layout of a name.
     *
     * @throws KilnException if there is none
     */
    public static OnnxIo parse(String text) {
        return Stream.of(values())
                .filter(io -> io.text().equals(text))
                .findFirst()
                .orElseThrow(() -> Failure.CONFIG.exception("kiln.onnx.io is '" + text + "'", "", "model or nhwc"));
    }

    /** Whether a tensor of a rank gets another layout. */
    boolean moves(int rank) {
        return this == NHWC && (rank == 4 || rank == 5);
    }
}
