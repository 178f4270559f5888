// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.ModelTables.Operator;
import java.util.Optional;

/**
 * An operator in the file.
 *
 * @param index index in the subgraph
 * @param builtin code of the builtin operator
 * @param version version of the operator
 * @param name name of the builtin operator, or of a custom one
 * @param table its table in the file
 */
public record OperatorRecord(int index, int builtin, int version, String name, FlatTable table) {
    /** Prefix of the name of a custom operator. */
    public static final String CUSTOM = "CUSTOM ";

    /** The name of a custom operator in the file; empty for any other. */
    public Optional<String> custom() {
        return builtin == BuiltinOperator.CUSTOM.code()
                ? Optional.of(name.substring(CUSTOM.length()))
                : Optional.empty();
    }

    /** Tensor indices; -1 means a missing optional tensor. */
    public FlatVector inputs() {
        return table.get(Operator.INPUTS);
    }

    public FlatVector outputs() {
        return table.get(Operator.OUTPUTS);
    }

    /** The bytes of a custom operator's options; empty if it has none. */
    public Bytes customOptions() {
        return Bytes.wrap(table.get(Operator.CUSTOM_OPTIONS).bytes());
    }
}
