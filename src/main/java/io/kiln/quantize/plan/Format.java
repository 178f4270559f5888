// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.DType;
import io.kiln.ir.Quantization;
import java.util.Optional;

/**
 * The number format of a value.
 *
 * @param dtype element type
 * @param quantization what its integers mean; empty for others
 */
public record Format(DType dtype, Optional<Quantization> quantization) {
    /** Single precision. */
    public static final Format FLOAT = plain(DType.FLOAT32);

    /** A type without quantization. */
    public static Format plain(DType dtype) {
        return new Format(dtype, Optional.empty());
    }

    static Format of(Precision precision, Quantization quantization) {
        return new Format(precision.activation(), Optional.of(quantization));
    }
}
