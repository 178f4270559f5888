// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.stateful;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.custom;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ASSIGN_VARIABLE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.CALL_ONCE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.IF;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.READ_VARIABLE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_CASE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_COMPOSITE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SVDF;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.VAR_HANDLE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.WHILE;

import io.kiln.frontend.tflite.operator.Registration;
import java.util.List;

/** Operators that keep state between runs, and control flow. */
public final class StatefulImporters {
    public static final List<Registration> ALL = List.of(
            builtin(SVDF, 4, new SvdfImporter()),
            builtin(UNIDIRECTIONAL_SEQUENCE_LSTM, 4, new LstmImporter()),
            builtin(IF, 1, new ControlFlowImporter(false)),
            builtin(WHILE, 1, new ControlFlowImporter(true)),
            builtin(STABLEHLO_CASE, 1, ControlFlowImporter::several),
            builtin(CALL_ONCE, 1, VariableImporter.CALL_ONCE),
            builtin(STABLEHLO_COMPOSITE, 1, new CompositeImporter()),
            builtin(VAR_HANDLE, 1, VariableImporter.VAR_HANDLE),
            builtin(READ_VARIABLE, 1, VariableImporter.READ_VARIABLE),
            builtin(ASSIGN_VARIABLE, 1, VariableImporter.ASSIGN_VARIABLE),
            custom("CIRCULAR_BUFFER", new CircularBufferImporter()));

    private StatefulImporters() {}
}
