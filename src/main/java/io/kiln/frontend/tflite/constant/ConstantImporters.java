// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.constant;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.custom;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.FILL;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ZEROS_LIKE;

import io.kiln.frontend.tflite.operator.Registration;
import java.util.List;

/** Operators whose results are constant, or repeat one element. */
public final class ConstantImporters {
    public static final List<Registration> ALL = List.of(
            builtin(FILL, 4, new FillImporter()),
            builtin(ZEROS_LIKE, 1, new ZerosImporter()),
            custom("TFLM_DECODE", new DecodeImporter()));

    private ConstantImporters() {}
}
