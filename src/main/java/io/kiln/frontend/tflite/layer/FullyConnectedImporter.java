// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.LayerOptions.FullyConnected;
import io.kiln.frontend.tflite.tensor.TensorQuantization;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** FULLY_CONNECTED: data of any rank is treated as rows of the weights' row length. */
final class FullyConnectedImporter implements OperatorImporter {
    /** Code of the schema's enum {@code FullyConnectedOptionsWeightsFormat}. */
    private static final int DEFAULT_FORMAT = 0;

    private static final int UNIT_AXIS = 1;
    private static final int LEAST_OF_FOUR_BITS = -8;
    private static final int MOST_OF_FOUR_BITS = 7;

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor weights = operator.input(1);
        Optional<TfliteTensor> bias = operator.optionalInput(2);
        Optional<FlatTable> options = operator.options(FullyConnected.TYPE);
        Activation activation = Activation.read(
                operator,
                options.map(o -> o.get(FullyConnected.FUSED_ACTIVATION_FUNCTION))
                        .orElse(0));
        operator.require(
                options.map(o -> o.get(FullyConnected.WEIGHTS_FORMAT)).orElse(0) == DEFAULT_FORMAT,
                "shuffled weights are not supported",
                "weights_format DEFAULT",
                "Convert the model again");
        LayerTypes.requireData(operator, data, operator.output());
        LayerTypes.requireWeights(operator, data, weights);
        operator.require(
                weights.shape().rank() == 2, "weights are " + weights.text(), "weights of rank 2 (units, inputs)", "");
        operator.check();
        int units = weights.shape().dim(0);
        LayerTypes.requireBias(operator, data, bias, units, DType.INT32, DType.INT64);
        requireShapes(operator, data, weights);
        requireWeightScales(operator, weights, units);
        operator.check();
        operator.finish(emitRows(operator, data, weights, bias, activation));
    }

    private static Arg emitRows(
            OperatorContext operator,
            TfliteTensor data,
            TfliteTensor weights,
            Optional<TfliteTensor> bias,
            Activation activation) {
        int units = weights.shape().dim(0);
        int depth = weights.shape().dim(1);
        Shape rows = Shape.of((int) (data.shape().elements() / depth), depth);
        Arg flat = data.shape().equals(rows)
                ? operator.value(data)
                : operator.emit(new Reshape(rows), operator.value(data));
        if (operator.followsLite() && LayerTypes.isHybrid(data, weights)) {
            Arg value = hybrid(operator, flat, weights, bias);
            return reshaped(
                    operator,
                    activation.apply(operator, value),
                    Shape.of(rows.dim(0), units),
                    outputShape(operator, data, units));
        }
        Arg sum = weights.dtype().isFloat()
                ? operator.emit(new Dense(units), flat, operator.value(weights))
                : ofFourBits(operator, flat, data, weights)
                        .orElseGet(() -> multiply(operator, flat, data, weights, LayerTypes.sum(data, bias)));
        Arg value = Requantizing.addBias(operator, sum, bias, UNIT_AXIS);
        if (!data.dtype().isFloat()) {
            value = operator.followsLite()
                    ? Requantizing.rescaleInDouble(operator, value, data, weights)
                    : Requantizing.rescaleInSingle(operator, value, UNIT_AXIS, data, weights);
        }
        Arg limited = activation.apply(operator, value);
        return reshaped(operator, limited, Shape.of(rows.dim(0), units), outputShape(operator, data, units));
    }

    private static Arg reshaped(OperatorContext operator, Arg value, Shape shape, Shape output) {
        return output.equals(shape) ? value : operator.emit(new Reshape(output), value);
    }

    /** Float data that is quantized at run time, each row by itself. */
    private static Arg hybrid(OperatorContext operator, Arg flat, TfliteTensor weights, Optional<TfliteTensor> bias) {
        boolean isAsymmetric = operator.options(FullyConnected.TYPE)
                .map(o -> o.get(FullyConnected.ASYMMETRIC_QUANTIZE_INPUTS))
                .orElse(false);
        HybridLayers.Quantized data = HybridLayers.quantize(operator, flat, List.of(1), isAsymmetric);
        QnnDense op = new QnnDense(weights.shape().dim(0), DType.INT32);
        Arg sums = HybridLayers.sums(operator, data, operator.value(weights), op);
        Arg scaled = HybridLayers.scaledAtOnce(operator, sums, data, weights.quantization());
        return HybridLayers.plus(operator, scaled, bias);
    }

    /** Float data times weights from -8 to 7, which stay integers of four bits; empty for others. */
    private static Optional<Arg> ofFourBits(
            OperatorContext operator, Arg flat, TfliteTensor data, TfliteTensor weights) {
        boolean isHybrid = LayerTypes.isHybrid(data, weights)
                && weights.quantization().isSymmetric()
                && operator.value(weights) instanceof Constant known
                && IntStream.range(0, known.elements())
                        .allMatch(i -> known.integer(i) >= LEAST_OF_FOUR_BITS && known.integer(i) <= MOST_OF_FOUR_BITS);
        if (!isHybrid) {
            return Optional.empty();
        }
        int units = weights.shape().dim(0);
        ByteBuffer scales = ByteBuffer.allocate(Float.BYTES * units).order(ByteOrder.LITTLE_ENDIAN);
        for (int unit = 0; unit < units; unit++) {
            scales.putFloat(weights.quantization().scale(unit));
        }
        TensorType parameters = new TensorType(Shape.of(units, 1), DType.FLOAT32);
        return Optional.of(operator.emit(
                new BlockDense(units, weights.shape().dim(1)),
                flat,
                operator.value(weights),
                new Constant("", parameters, Bytes.wrap(scales.array())),
                new Constant("", parameters, Bytes.wrap(new byte[Float.BYTES * units]))));
    }

    private static Arg multiply(
            OperatorContext operator, Arg flat, TfliteTensor data, TfliteTensor weights, DType sumType) {
        return operator.emit(
                new QnnDense(weights.shape().dim(0), sumType),
                flat,
                operator.value(weights),
                Requantizing.zeroPoint(data),
                Constant.scalar(weights.quantization().zeroPoint()),
                Requantizing.scale(data),
                Requantizing.scales(operator, weights.quantization()));
    }

    private static void requireShapes(OperatorContext operator, TfliteTensor data, TfliteTensor weights) {
        int units = weights.shape().dim(0);
        int depth = weights.shape().dim(1);
        long elements = data.shape().elements();
        boolean fits = operator.require(
                elements % depth == 0,
                "data " + data.text() + " does not divide into rows of " + depth,
                "data that fits the weights " + weights.text(),
                "Export the model again");
        Shape output = outputShape(operator, data, units);
        operator.require(
                !fits
                        || (output.rank() > 0
                                && output.dim(-1) == units
                                && output.elements() == elements / depth * units),
                "output " + operator.output().withShape(output).text() + " does not fit",
                (fits ? elements / depth : "some") + " rows of " + units + " units",
                "Export the model again");
    }

    /** With {@code keep_num_dims} only the last dimension changes; otherwise the leading dimensions are joined. */
    private static Shape outputShape(OperatorContext operator, TfliteTensor data, int units) {
        return operator.outputShape(() -> {
            boolean keeps = operator.options(FullyConnected.TYPE)
                    .map(o -> o.get(FullyConnected.KEEP_NUM_DIMS))
                    .orElse(false);
            int depth = operator.input(1).shape().dim(1);
            List<Integer> dims = new ArrayList<>(data.shape().dims());
            if (!keeps || dims.isEmpty()) {
                return Shape.of((int) Math.max(1, data.shape().elements() / depth), units);
            }
            dims.set(dims.size() - 1, units);
            return new Shape(dims);
        });
    }

    private static void requireWeightScales(OperatorContext operator, TfliteTensor weights, int units) {
        if (weights.dtype() != DType.INT8) {
            return;
        }
        TensorQuantization quantization = weights.quantization();
        operator.require(
                quantization.isPerTensor()
                        || (quantization.scaleCount() == units
                                && quantization.dimension() == 0
                                && quantization.isSymmetric()),
                "weights `" + weights.name() + "` have " + quantization.scaleCount() + " scales in dimension "
                        + quantization.dimension(),
                "one scale, or " + units + " in dimension 0 with zero points 0",
                "Quantize the model again");
    }
}
