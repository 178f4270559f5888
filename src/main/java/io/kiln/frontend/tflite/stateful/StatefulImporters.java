// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.stateful;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.custom;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.operator.Subgraphs.ImportedSubgraph;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions;
import io.kiln.frontend.tflite.schema.OperatorOptions.CallOnce;
import io.kiln.frontend.tflite.schema.OperatorOptions.VarHandle;
import io.kiln.frontend.tflite.schema.StablehloOptions.StableHLOComposite;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.call.Variables.CircularBuffer;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Operators that keep state between runs, and control flow. */
public final class StatefulImporters {
    private static final int MOST_OF_NAME = 200;

    /** Slots for which an unstated period is one run: TensorFlow Lite Micro derives this from its two models. */
    private static final Set<Integer> EVERY_RUN = Set.of(5, 13, 25);

    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.SVDF, 4, StatefulImporters::svdf),
            builtin(BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM, 4, new LstmImporter()),
            builtin(BuiltinOperator.IF, 1, new ControlFlowImporter(false)),
            builtin(BuiltinOperator.WHILE, 1, new ControlFlowImporter(true)),
            builtin(BuiltinOperator.STABLEHLO_CASE, 1, ControlFlowImporter::several),
            builtin(BuiltinOperator.CALL_ONCE, 1, VariableImporter.CALL_ONCE),
            builtin(BuiltinOperator.STABLEHLO_COMPOSITE, 1, StatefulImporters::composite),
            builtin(BuiltinOperator.VAR_HANDLE, 1, VariableImporter.VAR_HANDLE),
            builtin(BuiltinOperator.READ_VARIABLE, 1, VariableImporter.READ_VARIABLE),
            builtin(BuiltinOperator.ASSIGN_VARIABLE, 1, VariableImporter.ASSIGN_VARIABLE),
            custom("CIRCULAR_BUFFER", StatefulImporters::circularBuffer));

    private StatefulImporters() {}

    /**
     * CIRCULAR_BUFFER. Its output keeps its value and is always a variable here; a second output tells whether a period is
     * over. Without the second output, TensorFlow Lite Micro's interpreter ends the run after the operator until the period
     * is over; Kiln then supports only a period of one run, because a compiled function has results in every run.
     */
    private static void circularBuffer(OperatorContext operator) {
        List<TfliteTensor> outputs = operator.outputs();
        operator.requireThat(
                operator.inputCount() == 1 && (outputs.size() == 1 || outputs.size() == 2),
                "it has " + operator.inputCount() + " inputs and " + outputs.size() + " outputs",
                "1 input and 1 output, or a second that tells whether a period is over");
        TfliteTensor data = operator.input(0);
        TfliteTensor slots = outputs.get(0);
        operator.requireTypes(Set.of(DType.INT8), data, slots);
        operator.requireThat(slots.shape().rank() == 4, slots.text() + " does not have four dimensions", "slots");
        int cycles = cycles(operator, slots.shape());
        boolean tells = outputs.size() == 2;
        operator.require(
                tells || cycles == 1,
                "it ends the run before its period of " + cycles + " runs is over",
                "cycles_max of 1, or a second output that tells whether the period is over",
                "Export the model for a period of one run, or with the second output");
        if (tells) {
            operator.require(
                    outputs.get(1).dtype() == DType.BOOL
                            && outputs.get(1).shape().elements() == 1,
                    "its second output is " + outputs.get(1).text(),
                    "one bool");
        }
        operator.check();
        Arg over = operator.emit(
                new CircularBuffer(cycles), operator.value(data), variable(operator, slots), left(operator, cycles));
        if (tells) {
            TfliteTensor output = outputs.get(1);
            operator.finish(output, operator.emit(new Reshape(output.shape()), over));
        }
    }

    /** The period, determined like in circular_buffer_common.cc if it is not stated. */
    private static int cycles(OperatorContext operator, Shape slots) {
        int stated = operator.customOptions().integer("cycles_max", Integer.MIN_VALUE, Integer.MAX_VALUE, 0);
        if (stated > 0) {
            return stated;
        }
        boolean isEveryRun = EVERY_RUN.contains(slots.dim(1));
        operator.require(
                isEveryRun || slots.dim(2) != 2 || slots.dim(3) != 96,
                "its period is not stated, and depends on how many such operators were before",
                "cycles_max among its options");
        return isEveryRun ? 1 : 2;
    }

    private static Arg variable(OperatorContext operator, TfliteTensor slots) {
        if (operator.values().value(slots.index()).isEmpty()) {
            operator.values().addVariable(slots);
        }
        return operator.values().value(slots.index()).orElseThrow();
    }

    private static Arg left(OperatorContext operator, int cycles) {
        return operator.graph()
                .variable(
                        operator.outputs().get(0).name() + "_left",
                        new TensorType(Shape.of(1), DType.INT32),
                        Constant.scalar(cycles).data());
    }

    /**
     * STABLEHLO_COMPOSITE: an operator of the model's own making, with a subgraph that computes it. The subgraph's operators take its place, as
     * TensorFlow Lite's interpreter runs them.
     */
    private static void composite(OperatorContext operator) {
        FlatTable options = operator.laterOptions(StableHLOComposite.TYPE);
        int subgraph = options.get(StableHLOComposite.DECOMPOSITION_SUBGRAPH_INDEX);
        operator.requireThat(
                subgraph > 0,
                "the composite `" + options.get(StableHLOComposite.NAME, MOST_OF_NAME) + "` has no decomposition",
                "a subgraph that computes it",
                "Export the model with decompositions, which the converter writes by default");
        List<Arg> args = new ArrayList<>();
        for (int i = 0; i < operator.inputCount(); i++) {
            args.add(operator.value(i));
        }
        List<Arg> results = operator.inlined(subgraph, args);
        List<TfliteTensor> outputs = operator.outputs();
        operator.requireThat(
                results.size() == outputs.size(),
                "its decomposition has " + results.size() + " outputs, and it has " + outputs.size(),
                "as many");
        for (int i = 0; i < results.size(); i++) {
            operator.finish(outputs.get(i), results.get(i));
        }
    }

    /** SVDF in float32, and in int8 with a state of int16 or int8, as in TensorFlow Lite Micro's svdf_common.cc. */
    private static void svdf(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor features = operator.input(1);
        TfliteTensor times = operator.input(2);
        TfliteTensor state = operator.input(Svdf.STATE);
        FlatTable options = operator.requiredOptions(OperatorOptions.SVDF.TYPE);
        int rank = options.get(OperatorOptions.SVDF.RANK);
        Activation activation = Activation.read(operator, options.get(OperatorOptions.SVDF.FUSED_ACTIVATION_FUNCTION));
        checkConstants(operator, rank);
        boolean isFloat = data.dtype().isFloat();
        if (!isFloat) {
            for (TfliteTensor tensor : new TfliteTensor[] {data, features, times, state, operator.output()}) {
                operator.requireScales(tensor);
            }
        }
        operator.check();
        Svdf op = isFloat
                ? new Svdf(rank, 0, 0, 0)
                : new Svdf(rank, zeroPoint(data), zeroPoint(state), zeroPoint(operator.output()));
        QuantizedMultiplier feature =
                isFloat ? new QuantizedMultiplier(1, 0) : multiplier(operator, data, features, state);
        QuantizedMultiplier result =
                isFloat ? new QuantizedMultiplier(1, 0) : multiplier(operator, state, times, operator.output());
        Arg value = operator.emit(
                op,
                operator.value(data),
                operator.constant(features),
                operator.constant(times),
                bias(operator, features.shape().dim(0) / rank, isFloat),
                operator.value(state),
                operator.graph().variable(state.name() + "_slot", new TensorType(Shape.of(1), DType.INT32)),
                Constant.scalar(feature.multiplier()),
                Constant.scalar(feature.shift()),
                Constant.scalar(result.multiplier()),
                Constant.scalar(result.shift()));
        // The integer kernel clamps its result to int8 and ignores the activation.
        operator.finish(isFloat ? activation.apply(operator, value) : value);
    }

    private static void checkConstants(OperatorContext operator, int rank) {
        TfliteTensor features = operator.input(1);
        TfliteTensor state = operator.input(Svdf.STATE);
        operator.requireConstant("feature weights", features);
        operator.requireConstant("time weights", operator.input(2));
        operator.require(
                state.variable(), "the state `" + state.name() + "` is not a variable", "a variable tensor", "");
        operator.require(
                rank > 0 && features.shape().rank() == 2 && features.shape().dim(0) % rank == 0,
                "rank " + rank + " does not divide the filters of " + features.text(),
                "a rank that divides the number of filters");
    }

    private static Arg bias(OperatorContext operator, int units, boolean isFloat) {
        Optional<TfliteTensor> bias = operator.optionalInput(3);
        if (bias.isPresent()) {
            operator.requireConstant("bias", bias.get());
            operator.check();
            return operator.constant(bias.get());
        }
        operator.spend(4L * units);
        return isFloat ? Constant.vector(new float[units]) : Constant.vector(new int[units]);
    }

    private static int zeroPoint(TfliteTensor tensor) {
        return tensor.quantization().zeroPoint();
    }

    /** The scales' product and quotient in single precision, as in the kernel. */
    private static QuantizedMultiplier multiplier(
            OperatorContext operator, TfliteTensor a, TfliteTensor b, TfliteTensor out) {
        float real = a.quantization().scale(0)
                * b.quantization().scale(0)
                / out.quantization().scale(0);
        if (!Float.isFinite(real)) {
            throw operator.failure("its scales multiply to " + real, "scales of ordinary size");
        }
        return QuantizedMultiplier.of(real);
    }

    /**
     * Variables that operators share by name. CALL_ONCE, which initialises them, is executed during import: its results are
     * the variables' initial values.
     */
    private enum VariableImporter implements OperatorImporter {
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
                operator.finish(new Copy(), variable(operator, output));
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
                ImportedSubgraph once =
                        operator.subgraph(options.get(CallOnce.INIT_SUBGRAPH_INDEX), List.of(), List.of());
                operator.requireThat(
                        once.function().params().isEmpty(),
                        "it calls a subgraph with inputs",
                        "a subgraph without inputs");
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
                            "the variable had another type than " + tensor.text(),
                            "one type and shape for a variable"));
        }
    }
}
