// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.signal;

import static io.kiln.base.DType.BOOL;
import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT64;
import static io.kiln.frontend.tflite.operator.Registration.custom;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operator.CustomOptions;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.FilterBankLayout;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankAccumulate;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankGainControl;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankLog;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankSpectralSubtraction;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankSquareRoot;
import io.kiln.ir.op.signal.SignalOperators.SignalAutoScale;
import io.kiln.ir.op.signal.SignalOperators.SignalDelay;
import io.kiln.ir.op.signal.SignalOperators.SignalEnergy;
import io.kiln.ir.op.signal.SignalOperators.SignalFft;
import io.kiln.ir.op.signal.SignalOperators.SignalFrame;
import io.kiln.ir.op.signal.SignalOperators.SignalOverlapAdd;
import io.kiln.ir.op.signal.SignalOperators.SignalStack;
import io.kiln.ir.op.signal.SignalOperators.SignalWindow;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** Signal processing. Second outputs, and the operators' states, are variables. */
public final class SignalImporters {
    private static final int MAX = Integer.MAX_VALUE;

    public static final List<Registration> ALL = List.of(
            custom("SignalWindow", SignalImporters::window),
            custom("SignalFftAutoScale", SignalImporters::autoScale),
            custom("SignalRfft", fft(false)),
            custom("SignalIrfft", fft(true)),
            custom("SignalEnergy", SignalImporters::energy),
            custom("SignalFramer", SignalImporters::frame),
            custom("SignalStacker", SignalImporters::stack),
            custom("SignalDelay", SignalImporters::delay),
            custom("SignalOverlapAdd", SignalImporters::overlapAdd));

    private SignalImporters() {}

    private static void window(OperatorContext operator) {
        TfliteTensor data = data(operator, 2, 1, Set.of(INT16));
        operator.requireConstant("the window", operator.input(1));
        int shift = operator.customOptions().integer("shift", 0, Integer.SIZE - 1);
        operator.check();
        operator.finish(
                operator.emit(new SignalWindow(shift), operator.value(data), operator.constant(operator.input(1))));
    }

    private static void autoScale(OperatorContext operator) {
        TfliteTensor data = data(operator, 1, 2, Set.of(INT16));
        operator.check();
        emit(operator, new SignalAutoScale(), data, variable(operator, 1, INT32));
    }

    private static OperatorImporter fft(boolean inverse) {
        return operator -> {
            TfliteTensor data = data(operator, 1, 1, Set.of(INT16, INT32, FLOAT32));
            int length = operator.customOptions().integer("fft_length", SignalFft.SHORTEST, SignalFft.LONGEST);
            operator.check();
            emit(operator, checked(operator, () -> new SignalFft(length, inverse)), data);
        };
    }

    private static void energy(OperatorContext operator) {
        TfliteTensor data = data(operator, 1, 1, Set.of(INT16));
        CustomOptions options = operator.customOptions();
        int start = options.integer("start_index", 0, MAX);
        int end = options.integer("end_index", 0, MAX);
        operator.check();
        emit(operator, checked(operator, () -> new SignalEnergy(start, end)), data);
    }

    private static void frame(OperatorContext operator) {
        TfliteTensor data = data(operator, 1, 2, Set.of(INT16));
        CustomOptions options = operator.customOptions();
        int size = options.integer("frame_size", 1, MAX);
        int step = options.integer("frame_step", 1, MAX);
        boolean prefill = options.truth("prefill");
        operator.check();
        SignalFrame op = checked(operator, () -> new SignalFrame(size, step, prefill));
        emit(operator, op, data, variable(operator, 1, BOOL), state(operator, () -> op.state(data.type())));
    }

    private static void stack(OperatorContext operator) {
        TfliteTensor data = data(operator, 1, 2, Set.of(INT16));
        CustomOptions options = operator.customOptions();
        int channels = options.integer("num_channels", 1, MAX);
        int left = options.integer("stacker_left_context", 0, MAX);
        int right = options.integer("stacker_right_context", 0, MAX);
        int step = options.integer("stacker_step", 1, MAX);
        operator.requireThat(
                data.shape().elements() == channels,
                "its option num_channels is " + channels + ", but a frame is " + data.text(),
                "as many elements as channels");
        SignalStack op = checked(operator, () -> new SignalStack(left, right, step));
        emit(operator, op, data, variable(operator, 1, BOOL), state(operator, () -> op.state(data.type())));
    }

    private static void delay(OperatorContext operator) {
        TfliteTensor data = data(operator, 1, 1, Set.of(INT16));
        int length = operator.customOptions().integer("delay_length", 0, MAX);
        operator.check();
        if (length == 0) {
            operator.finish(operator.value(data));
            return;
        }
        SignalDelay op = new SignalDelay(length);
        emit(operator, op, data, state(operator, () -> op.state(data.type())));
    }

    private static void overlapAdd(OperatorContext operator) {
        TfliteTensor data = data(operator, 1, 1, Set.of(INT16, FLOAT32));
        int step = operator.customOptions().integer("frame_step", 1, MAX);
        operator.requireThat(
                data.shape().rank() >= 2, data.text() + " is not supported here", "frames, and the samples of each");
        SignalOverlapAdd op = new SignalOverlapAdd(step);
        emit(operator, op, data, state(operator, () -> op.state(data.type())));
    }

    /** The data, after checking its type and the numbers of inputs and outputs; errors are reported. */
    private static TfliteTensor data(OperatorContext operator, int inputs, int outputs, Set<DType> dtypes) {
        operator.requireThat(
                operator.inputCount() == inputs && operator.outputs().size() == outputs,
                "it has " + operator.inputCount() + " inputs and "
                        + operator.outputs().size() + " outputs",
                inputs + " and " + outputs);
        TfliteTensor data = operator.input(0);
        operator.requireTypes(dtypes, data);
        operator.require(
                data.shape().rank() >= 1 && data.shape().elements() > 0,
                data.text() + " is not supported here",
                "at least one dimension and one element");
        return data;
    }

    /** Reports an error from the operator's definition like any other problem. */
    private static <T> T checked(OperatorContext operator, Supplier<T> value) {
        try {
            return value.get();
        } catch (IllegalArgumentException e) {
            throw operator.failure(e.getMessage(), "");
        }
    }

    /** A scalar that the operator writes into one of its outputs. */
    private static Arg.Ref variable(OperatorContext operator, int output, DType dtype) {
        TfliteTensor tensor = operator.outputs().get(output);
        Arg.Ref variable = operator.graph().variable(tensor.name(), new TensorType(Shape.scalar(), dtype));
        operator.finish(tensor, variable);
        return variable;
    }

    /** A variable, initially zero, without a tensor in the file. */
    private static Arg.Ref state(OperatorContext operator, Supplier<TensorType> type) {
        TensorType stateType = checked(operator, type);
        operator.spend(stateType.bytes());
        return operator.graph().variable(operator.outputs().get(0).name() + "_state", stateType);
    }

    private static void emit(OperatorContext operator, Op op, TfliteTensor data, Arg.Ref... variables) {
        List<Arg> args = new ArrayList<>(List.of(operator.value(data)));
        args.addAll(Arrays.asList(variables));
        operator.finish(operator.outputs().get(0), operator.emit(op, args.toArray(Arg[]::new)));
    }

    /** Custom operators on the channels of a filter bank. */
    public static final class FilterBankImporters {
        private static final int MAX = Integer.MAX_VALUE;
        public static final List<Registration> ALL = List.of(
                custom("SignalFilterBank", FilterBankImporters::accumulate),
                custom("SignalFilterBankSquareRoot", FilterBankImporters::squareRoot),
                custom("SignalFilterBankSpectralSubtraction", FilterBankImporters::spectralSubtraction),
                custom("SignalPCAN", FilterBankImporters::gainControl),
                custom("SignalFilterBankLog", FilterBankImporters::log));

        private FilterBankImporters() {}

        private static void accumulate(OperatorContext operator) {
            TfliteTensor energies = operator.input(0);
            int channels = operator.customOptions().integer("num_channels", 1, MAX - 1);
            FilterBankAccumulate op = new FilterBankAccumulate(channels);
            requireInputs(operator, op.arity());
            requireVector(operator, UINT32, energies);
            operator.requireTypes(Set.of(UINT64), operator.output());
            List<TfliteTensor> tables = new ArrayList<>();
            for (int i = 1; i < op.arity(); i++) {
                TfliteTensor table = operator.input(i);
                requireVector(operator, INT16, table);
                operator.requireConstant("input " + i, table);
                tables.add(table);
            }
            operator.check();
            List<Arg> args = new ArrayList<>(List.of(operator.value(energies)));
            operator.require(
                    !(args.get(0) instanceof Constant),
                    "`" + energies.name() + "` is constant",
                    "computed data, because channels of constants may take long",
                    "Compute the channels when the model is trained");
            List<Constant> constants = tables.stream().map(operator::constant).toList();
            args.addAll(constants);
            for (int i = FilterBankAccumulate.ENERGY_STARTS; i < op.arity(); i++) {
                operator.require(
                        args.get(i) instanceof Constant table && table.elements() - 1 == channels,
                        "`" + operator.input(i).name() + "` has "
                                + operator.input(i).shape().dim(0) + " elements for " + channels + " channels",
                        "one element more than there are channels");
            }
            operator.check();
            layout(channels, constants)
                    .problems(energies.shape().dim(0), constants.get(0).elements())
                    .forEach(problem -> operator.require(false, problem, "channels within the data and the weights"));
            operator.check();
            operator.finish(op, args.toArray(Arg[]::new));
        }

        private static FilterBankLayout layout(int channels, List<Constant> constants) {
            return FilterBankLayout.of(
                    channels + 1,
                    i -> (int) constants
                            .get(FilterBankAccumulate.ENERGY_STARTS - 1)
                            .integer(i),
                    i -> (int) constants
                            .get(FilterBankAccumulate.WEIGHT_STARTS - 1)
                            .integer(i),
                    i -> (int) constants.get(FilterBankAccumulate.WIDTHS - 1).integer(i));
        }

        private static void squareRoot(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            TfliteTensor bits = operator.input(FilterBankSquareRoot.BITS);
            requireInputs(operator, 2);
            requireVector(operator, UINT64, data);
            operator.requireTypes(Set.of(INT32), bits);
            operator.checkTypes(Set.of(UINT32), operator.output());
            operator.finish(new FilterBankSquareRoot(), operator.value(data), operator.value(bits));
        }

        private static void spectralSubtraction(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            List<TfliteTensor> outputs = operator.outputs();
            CustomOptions options = operator.customOptions();
            int channels = options.integer("num_channels", 1, MAX);
            FilterBankSpectralSubtraction op = new FilterBankSpectralSubtraction(
                    options.integer("smoothing", 0, MAX),
                    options.integer("one_minus_smoothing", 0, MAX),
                    options.integer("alternate_smoothing", 0, MAX),
                    options.integer("alternate_one_minus_smoothing", 0, MAX),
                    options.integer("smoothing_bits", 0, Integer.SIZE - 1),
                    options.integer("min_signal_remaining", 0, MAX),
                    options.truth("clamping"),
                    options.integer("spectral_subtraction_bits", 0, Long.SIZE - 1));
            requireInputs(operator, 1);
            boolean isVector = requireVector(operator, UINT32, data);
            outputs.forEach(output -> operator.requireTypes(Set.of(UINT32), output));
            operator.require(
                    !isVector || data.shape().dim(0) == channels,
                    "its option num_channels is " + channels + " for " + data.text(),
                    "the number of channels of the data");
            operator.requireThat(outputs.size() == 2, "it has " + outputs.size() + " outputs", "2 outputs");
            // The estimate is the operator's state.
            Arg.Ref estimate = operator.graph().variable(outputs.get(1).name(), data.type());
            operator.finish(outputs.get(0), operator.emit(op, operator.value(data), estimate));
            operator.finish(outputs.get(1), estimate);
        }

        private static void gainControl(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            TfliteTensor noise = operator.input(FilterBankGainControl.NOISE);
            TfliteTensor gains = operator.input(FilterBankGainControl.GAINS);
            int shift = operator.customOptions().integer("snr_shift", 0, Long.SIZE - 1);
            requireInputs(operator, 3);
            requireVector(operator, UINT32, data);
            requireVector(operator, UINT32, noise);
            operator.requireTypes(Set.of(UINT32), operator.output());
            requireVector(operator, INT16, gains);
            operator.requireConstant("the table of gains", gains);
            operator.check();
            operator.finish(
                    new FilterBankGainControl(shift),
                    operator.value(data),
                    operator.value(noise),
                    operator.constant(gains));
        }

        private static void log(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            CustomOptions options = operator.customOptions();
            FilterBankLog op = new FilterBankLog(
                    options.integer("output_scale", 1, MAX),
                    options.integer("input_correction_bits", 0, Integer.SIZE - 1));
            requireInputs(operator, 1);
            requireVector(operator, UINT32, data);
            operator.checkTypes(Set.of(INT16), operator.output());
            operator.finish(op, operator.value(data));
        }

        private static void requireInputs(OperatorContext operator, int count) {
            operator.require(
                    operator.inputCount() == count, "it has " + operator.inputCount() + " inputs", count + " inputs");
        }

        /** Checks that a tensor is a vector of a type; returns whether it is a vector. */
        private static boolean requireVector(OperatorContext operator, DType dtype, TfliteTensor tensor) {
            operator.requireTypes(Set.of(dtype), tensor);
            return operator.require(
                    tensor.shape().rank() == 1,
                    "`" + tensor.name() + "` is " + tensor.shape().text(),
                    "one dimension",
                    "Reshape it to a vector before the operator");
        }
    }
}
