// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.signal;

import static io.kiln.base.DType.BOOL;
import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.frontend.tflite.operator.Registration.custom;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operator.CustomOptions;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.signal.SignalAutoScale;
import io.kiln.ir.op.signal.SignalDelay;
import io.kiln.ir.op.signal.SignalEnergy;
import io.kiln.ir.op.signal.SignalFft;
import io.kiln.ir.op.signal.SignalFrame;
import io.kiln.ir.op.signal.SignalOverlapAdd;
import io.kiln.ir.op.signal.SignalStack;
import io.kiln.ir.op.signal.SignalWindow;
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
}
