// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.stateful;

import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operator.ImportedSubgraph;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.ControlOptions.CallOnce;
import io.kiln.frontend.tflite.schema.ControlOptions.VarHandle;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.call.RefWrite;
import io.kiln.ir.op.movement.Copy;
import io.kiln.reference.Interpreter;
import java.util.List;

/**
 * Variables that operators share by name. CALL_ONCE, which initialises them, is executed during import: its results are
 * the variables' initial values.
 */
enum VariableImporter implements OperatorImporter {
    VAR_HANDLE {
        @Override
        public void emit(OperatorContext operator) {
            FlatTable options = operator.requiredOptions(VarHandle.TYPE);
            String name =
                    options.get(VarHandle.CONTAINER, MAX_NAME) + "/" + options.get(VarHandle.SHARED_NAME, MAX_NAME);
            TfliteTensor output = operator.output();
            operator.check();
            operator.values().defineHandle(output.index(), name);
        }
    },

    READ_VARIABLE {
        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor output = operator.output();
            operator.finish(operator.emit(new Copy(), variable(operator, output)));
        }
    },

    ASSIGN_VARIABLE {
        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor value = operator.input(1);
            operator.emit(new RefWrite(), variable(operator, value), operator.value(value));
        }
    },

    CALL_ONCE {
        @Override
        public void emit(OperatorContext operator) {
            FlatTable options = operator.requiredOptions(CallOnce.TYPE);
            ImportedSubgraph once = operator.subgraph(options.get(CallOnce.INIT_SUBGRAPH_INDEX), List.of());
            operator.require(
                    once.function().params().isEmpty(),
                    "it calls a subgraph with inputs",
                    "a subgraph without inputs",
                    "Export the model again");
            operator.check();
            Interpreter.State state = Interpreter.State.initial(once.function(), MAX_ITERATIONS, operator.folder());
            Interpreter.run(once.function(), List.of(), state);
            operator.values().begin(once.resources(), state);
        }
    };

    private static final int MAX_NAME = 1024;

    /** Limit for the iterations that compute initial values. */
    private static final int MAX_ITERATIONS = 10_000;

    /** The variable whose handle the first input is, with a tensor's type. */
    private static Arg variable(OperatorContext operator, TfliteTensor tensor) {
        TfliteTensor handle = operator.input(0);
        String name = operator.values()
                .handle(handle.index())
                .orElseThrow(() ->
                        operator.failure("`" + handle.name() + "` is not a variable", "the output of VAR_HANDLE"));
        return operator.values()
                .resource(name, tensor.type())
                .orElseThrow(() -> operator.failure(
                        "the variable had another type than " + tensor.text(), "one type and shape for a variable"));
    }
}
