// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.stateful;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.schema.OperatorOptions.UnidirectionalSequenceLSTM;
import io.kiln.frontend.tflite.schema.SchemaEnums.FusedActivation;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.TflSigmoid;
import io.kiln.ir.op.layer.Lstm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** UNIDIRECTIONAL_SEQUENCE_LSTM with the scales of TensorFlow Lite Micro's lstm_eval_common.cc. */
final class LstmImporter implements OperatorImporter {
    /** Scale of the input of a gate's function, 12 fraction bits, and of its output, 15. */
    private static final int GATE_FRACTION_BITS = 12;

    private static final double GATE_INPUT = 1.0 / (1 << GATE_FRACTION_BITS);

    private static final double GATE_OUTPUT = 1.0 / (1 << 15);

    /** Integer bits of the argument's multiplier, and its largest shift. */
    private static final int STEPS_OF_SCALE = 3;

    private static final int MAX_LEFT = 13;
    private static final int MAX_RIGHT = 31;

    /** The kernel's 64-bit multiplication is undefined from this shift on. */
    private static final int MAX_WIDE_SHIFT = 14;

    @Override
    public void emit(OperatorContext operator) {
        FlatTable options = operator.requiredOptions(UnidirectionalSequenceLSTM.TYPE);
        LstmTensors tensors = LstmTensors.read(operator, options);
        boolean isFloat = tensors.data().dtype().isFloat();
        float clip = options.get(UnidirectionalSequenceLSTM.CELL_CLIP);
        operator.requireThat(Float.isFinite(clip) && clip >= 0, "its cell clip is " + clip, "0 or more");
        List<Arg> args = new ArrayList<>();
        args.add(operator.value(tensors.data()));
        tensors.constants().forEach(constant -> args.add(operator.constant(constant)));
        args.add(operator.value(tensors.hidden()));
        args.add(operator.value(tensors.cell()));
        QuantizedMultiplier[] multipliers = isFloat ? unused() : multipliers(operator, tensors);
        int[] mantissas = new int[multipliers.length];
        int[] shifts = new int[multipliers.length];
        for (int i = 0; i < multipliers.length; i++) {
            mantissas[i] = multipliers[i].multiplier();
            shifts[i] = multipliers[i].shift();
        }
        args.add(Constant.vector(mantissas));
        args.add(Constant.vector(shifts));
        boolean timeMajor = options.get(UnidirectionalSequenceLSTM.TIME_MAJOR);
        Lstm op = isFloat
                ? new Lstm(timeMajor, 0, 0, STEPS_OF_SCALE, 0, clip)
                : quantized(operator, tensors, timeMajor, clip);
        operator.finish(op, args.toArray(Arg[]::new));
    }

    private static QuantizedMultiplier[] unused() {
        QuantizedMultiplier[] all = new QuantizedMultiplier[Lstm.RESCALINGS];
        Arrays.fill(all, new QuantizedMultiplier(1, 0));
        return all;
    }

    private static Lstm quantized(OperatorContext operator, LstmTensors tensors, boolean timeMajor, float clip) {
        float scale = tensors.cell().quantization().scale(0);
        int left = (int) FixedPoint.roundHalfAway(TflSigmoid.log2(scale)) + GATE_FRACTION_BITS;
        if (left > MAX_LEFT || left < -MAX_RIGHT) {
            throw operator.failure("its cell has scale " + scale, "a scale from 2^-43 to 2");
        }
        double steps = Math.min((double) clip / scale, Short.MAX_VALUE);
        operator.requireThat(
                clip == 0 || steps >= 1,
                "its cell clip is " + clip,
                "at least the cell's scale " + scale + ", or 0 for none",
                "Quantize the model again");
        Lstm op = new Lstm(
                timeMajor,
                tensors.data().quantization().zeroPoint(),
                tensors.hidden().quantization().zeroPoint(),
                STEPS_OF_SCALE << Math.max(left, 0),
                Math.max(-left, 0),
                (int) steps);
        return operator.followsLite() && tensors.data().dtype() == DType.INT8 ? op.in(Lstm.Arithmetic.LIBRARY) : op;
    }

    /**
     * In the order of {@link Lstm}; the products of two scales are in single precision, as for fully connected layers.
     */
    private static QuantizedMultiplier[] multipliers(OperatorContext operator, LstmTensors tensors) {
        QuantizedMultiplier[] all = new QuantizedMultiplier[Lstm.RESCALINGS];
        float data = tensors.data().quantization().scale(0);
        float hidden = tensors.hidden().quantization().scale(0);
        double cell = tensors.cell().quantization().scale(0);
        int mostShift = tensors.data().dtype() == DType.INT16 ? MAX_WIDE_SHIFT : Integer.SIZE;
        for (int i = 0; i < 2 * Lstm.GATES; i++) {
            float weights = tensors.constants().get(i).quantization().scale(0);
            all[i] = multiplier(operator, ((i < Lstm.GATES ? data : hidden) * weights) / GATE_INPUT, mostShift);
        }
        all[2 * Lstm.GATES] = multiplier(operator, GATE_OUTPUT * cell / cell, 0);
        all[2 * Lstm.GATES + 1] = multiplier(operator, GATE_OUTPUT * GATE_OUTPUT / cell, 0);
        all[2 * Lstm.GATES + 2] = multiplier(operator, GATE_OUTPUT * GATE_OUTPUT / hidden, 0);
        return all;
    }

    private static QuantizedMultiplier multiplier(OperatorContext operator, double real, int mostShift) {
        if (!Double.isFinite(real) || QuantizedMultiplier.of(real).shift() > mostShift) {
            throw operator.failure("its scales make a factor of " + real, "scales of ordinary size");
        }
        return QuantizedMultiplier.of(real);
    }

    /**
     * The tensors of an LSTM operator in the form that TensorFlow Lite Micro supports: all four gates and biases, no
     * extensions.
     *
     * @param constants weights of the data, of the hidden state, and biases, each for the gates input, forget, cell and output
     */
    private record LstmTensors(
            TfliteTensor data, List<TfliteTensor> constants, TfliteTensor hidden, TfliteTensor cell) {
        private static final int COUNT = 24;
        private static final int WEIGHTS = 1;
        private static final int PEEPHOLE = 9;
        private static final int BIASES = 12;
        private static final int PROJECTION = 16;
        private static final int HIDDEN = 18;
        private static final int CELL = 19;
        private static final int LAYER_NORM = 20;
        private static final List<String> GATES = List.of("input", "forget", "cell", "output");

        LstmTensors {
            constants = List.copyOf(constants);
        }

        /** Reads and checks the tensors and the options. */
        static LstmTensors read(OperatorContext operator, FlatTable options) {
            requireStandard(operator, options);
            TfliteTensor data = operator.input(0);
            List<TfliteTensor> constants = new ArrayList<>();
            for (int i = 0; i < 2 * Lstm.GATES; i++) {
                constants.add(operator.input(WEIGHTS + i));
            }
            for (int i = 0; i < Lstm.GATES; i++) {
                constants.add(operator.input(BIASES + i));
            }
            LstmTensors tensors = new LstmTensors(data, constants, operator.input(HIDDEN), operator.input(CELL));
            tensors.requireTypes(operator);
            operator.check();
            return tensors;
        }

        private static void requireStandard(OperatorContext operator, FlatTable options) {
            int inputs = operator.inputCount();
            operator.require(inputs == COUNT, "it has " + inputs + " inputs", COUNT + ", -1 for missing ones");
            requireAbsent(operator, PEEPHOLE, BIASES, "peephole connections");
            requireAbsent(operator, PROJECTION, HIDDEN, "a projection");
            requireAbsent(operator, LAYER_NORM, COUNT, "layer normalization");
            for (int i = 0; i < Lstm.GATES; i++) {
                requirePresent(operator, WEIGHTS + i, "weights of the " + GATES.get(i) + " gate");
                requirePresent(
                        operator, WEIGHTS + Lstm.GATES + i, "recurrent weights of the " + GATES.get(i) + " gate");
                requirePresent(operator, BIASES + i, "bias of the " + GATES.get(i) + " gate");
            }
            requirePresent(operator, HIDDEN, "hidden state");
            requirePresent(operator, CELL, "cell");
            int activation = options.get(UnidirectionalSequenceLSTM.FUSED_ACTIVATION_FUNCTION);
            operator.require(
                    activation == FusedActivation.TANH.code(),
                    "its activation is number " + activation,
                    "TANH, number 4",
                    "Train it with tanh");
            operator.requireThat(
                    !options.get(UnidirectionalSequenceLSTM.DIAGONAL_RECURRENT_TENSORS),
                    "its recurrent weights are diagonal",
                    "full matrices",
                    "");
        }

        private static void requireAbsent(OperatorContext operator, int from, int to, String what) {
            boolean absent = true;
            for (int i = from; i < to; i++) {
                absent &= operator.optionalInput(i).isEmpty();
            }
            operator.require(
                    absent,
                    "an LSTM with " + what + " is not supported",
                    "a standard Keras LSTM",
                    "Retrain as a standard Keras LSTM");
        }

        private static void requirePresent(OperatorContext operator, int index, String what) {
            operator.require(
                    operator.optionalInput(index).isPresent(),
                    "it has no " + what,
                    "a tensor at input " + index,
                    "Train an LSTM with all four gates and biases");
        }

        private void requireTypes(OperatorContext operator) {
            DType type = data.dtype();
            boolean supported = operator.require(
                    type == DType.INT8 || type == DType.INT16 || type == DType.FLOAT32,
                    "data `" + data.name() + "` is " + type.text(),
                    "int8, int16 or float32",
                    "Convert the model with one of these types");
            if (!supported) {
                return;
            }
            DType weights = type.isFloat() ? type : DType.INT8;
            DType biases = type.isFloat() ? type : type == DType.INT8 ? DType.INT32 : DType.INT64;
            for (int i = 0; i < constants.size(); i++) {
                boolean isBias = i >= 2 * Lstm.GATES;
                TfliteTensor tensor = constants.get(i);
                requireType(operator, isBias ? "bias" : "weights", tensor, isBias ? biases : weights);
                operator.requireConstant(isBias ? "bias" : "weights", tensor);
                if (!isBias && !type.isFloat()) {
                    requireScale(operator, tensor, true);
                }
            }
            requireType(operator, "hidden state", hidden, type);
            requireType(operator, "cell", cell, type.isFloat() ? type : DType.INT16);
            requireType(operator, "output", operator.output(), type);
            requireVariable(operator, hidden);
            requireVariable(operator, cell);
            if (!type.isFloat()) {
                requireScale(operator, data, type == DType.INT16);
                requireScale(operator, hidden, type == DType.INT16);
                requireScale(operator, cell, true);
            }
        }

        private static void requireType(OperatorContext operator, String what, TfliteTensor tensor, DType type) {
            operator.require(
                    tensor.dtype() == type,
                    what + " `" + tensor.name() + "` is " + tensor.dtype().text(),
                    type.text() + ": int8 data with int32 biases, int16 with int64 ones, an int16 cell; or all float32",
                    "Convert the model again");
        }

        private static void requireVariable(OperatorContext operator, TfliteTensor tensor) {
            operator.require(
                    tensor.variable(), "the state `" + tensor.name() + "` is not a variable", "a variable tensor");
        }

        private static void requireScale(OperatorContext operator, TfliteTensor tensor, boolean symmetric) {
            operator.requireScales(tensor);
            operator.require(
                    !symmetric || tensor.quantization().isSymmetric(),
                    "`" + tensor.name() + "` has a zero point that is not 0",
                    "zero point 0",
                    "Quantize the model again");
        }
    }
}
