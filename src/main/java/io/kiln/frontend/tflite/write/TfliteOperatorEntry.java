// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.frontend.tflite.schema.BuiltinOperator;
import java.util.List;

/**
 * An operator of a file.
 *
 * @param code the operator
 * @param version its version
 * @param custom name of a custom operator; empty for others
 * @param inputs tensors that it reads; -1 for one that is left out
 * @param intermediates tensors that only tell the kernel scales
 */
record TfliteOperatorEntry(
        BuiltinOperator code,
        int version,
        String custom,
        List<Integer> inputs,
        List<Integer> outputs,
        Options options,
        List<Integer> intermediates) {
    TfliteOperatorEntry {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        intermediates = List.copyOf(intermediates);
    }

    TfliteOperatorEntry(
            BuiltinOperator code,
            int version,
            String custom,
            List<Integer> inputs,
            List<Integer> outputs,
            Options options) {
        this(code, version, custom, inputs, outputs, options, List.of());
    }
}
