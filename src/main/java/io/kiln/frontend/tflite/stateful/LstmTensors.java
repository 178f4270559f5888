// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.stateful;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operand.ElementTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.schema.FusedActivation;
import io.kiln.frontend.tflite.schema.LayerOptions.UnidirectionalSequenceLSTM;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.op.layer.Lstm;
import java.util.ArrayList;
import java.util.List;

/**
 * The tensors of an LSTM operator in the form that TensorFlow Lite Micro supports: all four gates and biases, no
 * extensions.
 *
 * @param constants weights of the data, of the hidden state, and biases, each for the gates input, forget, cell and output
 */
record LstmTensors(TfliteTensor data, List<TfliteTensor> constants, TfliteTensor hidden, TfliteTensor cell) {
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
        operator.require(
                inputs == COUNT,
                "it has " + inputs + " inputs",
                COUNT + ", -1 for missing ones",
                "Export the model again");
        requireAbsent(operator, PEEPHOLE, BIASES, "peephole connections");
        requireAbsent(operator, PROJECTION, HIDDEN, "a projection");
        requireAbsent(operator, LAYER_NORM, COUNT, "layer normalization");
        for (int i = 0; i < Lstm.GATES; i++) {
            requirePresent(operator, WEIGHTS + i, "weights of the " + GATES.get(i) + " gate");
            requirePresent(operator, WEIGHTS + Lstm.GATES + i, "recurrent weights of the " + GATES.get(i) + " gate");
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
        operator.require(
                !options.get(UnidirectionalSequenceLSTM.DIAGONAL_RECURRENT_TENSORS),
                "its recurrent weights are diagonal",
                "full matrices",
                "");
        operator.check();
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
            ElementTypes.requireConstant(operator, isBias ? "bias" : "weights", tensor);
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
                tensor.variable(),
                "the state `" + tensor.name() + "` is not a variable",
                "a variable tensor",
                "Export the model again");
    }

    private static void requireScale(OperatorContext operator, TfliteTensor tensor, boolean symmetric) {
        ElementTypes.requireScale(operator, tensor);
        operator.require(
                !symmetric || tensor.quantization().isSymmetric(),
                "`" + tensor.name() + "` has a zero point that is not 0",
                "zero point 0",
                "Quantize the model again");
    }
}
