// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.base.DType;
import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.schema.ModelTables.QuantizationParameters;
import io.kiln.frontend.tflite.schema.ModelTables.Tensor;
import io.kiln.frontend.tflite.tensor.TfliteTensor.TensorQuantization;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Reads and checks the quantization of a tensor: finite positive scales, zero points within the type, one per channel. */
final class QuantizationReader {
    private QuantizationReader() {}

    /** @param bits of an element in the file: fewer than the type's for int4, which zero points must fit, too */
    static TensorQuantization read(FlatTable table, TensorType type, int bits, PlaceFindings findings) {
        FlatVector scales = table.get(QuantizationParameters.SCALE);
        FlatVector zeroPoints = table.get(QuantizationParameters.ZERO_POINT);
        if (table.get(QuantizationParameters.DETAILS_TYPE) != 0) {
            findings.add(
                    "custom quantization, or quantization of several axes, is not supported",
                    "scales for the tensor, for each channel or for each block of constants",
                    "Quantize the model again, for each channel");
            return TensorQuantization.NONE;
        }
        if (scales.size() == 0) {
            return TensorQuantization.NONE;
        }
        // Published models repeat the weights' dimension for the bias, a vector, for which only 0 makes sense.
        int dimension = type.shape().rank() == 1 ? 0 : table.get(QuantizationParameters.QUANTIZED_DIMENSION);
        if (!countsFit(scales, zeroPoints, dimension, type, findings)) {
            return TensorQuantization.NONE;
        }
        return new TensorQuantization(
                readScales(scales, findings),
                readZeroPoints(zeroPoints, scales.size(), Limits.of(type.dtype(), bits), findings),
                dimension);
    }

    private static boolean countsFit(
            FlatVector scales, FlatVector zeroPoints, int dimension, TensorType type, PlaceFindings findings) {
        int before = findings.count();
        if (scales.size() > 1) {
            int rank = type.shape().rank();
            if (dimension < 0 || dimension >= rank) {
                findings.add(
                        "quantized_dimension is " + dimension,
                        "a dimension from 0 to " + (rank - 1),
                        "Export the model again");
            } else if (type.shape().dim(dimension) != scales.size()) {
                findings.add(
                        scales.size() + " scales for " + type.shape().dim(dimension) + " channels in dimension "
                                + dimension,
                        "one scale, or one per channel of quantized_dimension",
                        "Export the model again");
            }
        }
        if (zeroPoints.size() > 1 && zeroPoints.size() != scales.size()) {
            findings.add(
                    zeroPoints.size() + " zero points for " + scales.size() + " scales",
                    "one zero point per scale",
                    "Export the model again");
        }
        return findings.count() == before;
    }

    private static float[] readScales(FlatVector vector, PlaceFindings findings) {
        float[] scales = new float[vector.spent().size()];
        int wrong = -1;
        for (int i = 0; i < scales.length; i++) {
            scales[i] = vector.f32(i);
            if (!(scales[i] > 0) || Float.isInfinite(scales[i])) {
                wrong = wrong < 0 ? i : wrong;
            }
        }
        if (wrong >= 0) {
            findings.add(
                    "scale[" + wrong + "] is " + scales[wrong], "finite scales above 0", "Quantize the model again");
        }
        return scales;
    }

    /** The range of zero points of a type; any number for floats, which do not use it. */
    private record Limits(long least, long most) {
        static Limits of(DType dtype, int bits) {
            if (!dtype.isInteger()) {
                return new Limits(Long.MIN_VALUE, Long.MAX_VALUE);
            }
            long lost = Byte.SIZE * (long) dtype.bytes() - bits;
            return new Limits(
                    Math.max(dtype.min() >> lost, Integer.MIN_VALUE), Math.min(dtype.max() >> lost, Integer.MAX_VALUE));
        }

        boolean has(long zeroPoint) {
            return zeroPoint >= least && zeroPoint <= most;
        }
    }

    private static int[] readZeroPoints(FlatVector vector, int count, Limits limits, PlaceFindings findings) {
        int[] zeroPoints = new int[count];
        vector.spent();
        for (int i = 0; i < zeroPoints.length && vector.size() > 0; i++) {
            long zeroPoint = vector.i64(vector.size() == 1 ? 0 : i);
            if (!limits.has(zeroPoint)) {
                findings.add(
                        "zero_point[" + i + "] is " + zeroPoint,
                        "a zero point from " + limits.least + " to " + limits.most,
                        "Quantize the model again");
                break;
            }
            zeroPoints[i] = (int) zeroPoint;
        }
        return zeroPoints;
    }

    /**
     * The shapes of inputs: those given by the user, and those that the file leaves open.
     *
     * <p>A file states a shape and may also state a signature, in which -1 means any size; the shape then has a 1. An open
     * first dimension, the batch, is taken as the file's 1. Any other open dimension must be given.
     */
    static final class GivenShapes {
        private final Map<Integer, Shape> byTensor = new HashMap<>();
        private final boolean open;

        /** An input tensor in the file. */
        private record Input(int index, String name, FlatTable table) {}

        /**
         * Finds the inputs for the given shapes; unknown names and shapes of another rank are reported.
         *
         * @param inputs indices of the model's inputs, unchecked
         * @param called shapes of the first of them, whatever their names
         */
        GivenShapes(
                TensorReader tensors,
                int[] inputs,
                InputShapes given,
                List<Shape> called,
                String file,
                Problems problems) {
            for (int i = 0; i < Math.min(inputs.length, called.size()); i++) {
                byTensor.put(inputs[i], called.get(i));
            }
            Map<String, Input> byName = new LinkedHashMap<>();
            for (int index : inputs) {
                if (index >= 0 && index < tensors.count()) {
                    Input input = new Input(index, tensors.name(index), tensors.table(index));
                    byName.put(input.name, input);
                }
            }
            given.byName().forEach((name, shape) -> {
                Input input = byName.get(name);
                if (input == null) {
                    problems.add(
                            "kiln.inputShapes names `" + name + "`, which is not an input of the model",
                            file,
                            "one of " + String.join(", ", byName.keySet()),
                            NearMiss.didYouMean(name, byName.keySet()));
                } else {
                    add(input, shape, file, problems);
                }
            });
            open = byName.values().stream().anyMatch(i -> !byTensor.containsKey(i.index) && isOpen(i.table));
        }

        private void add(Input input, Shape shape, String file, Problems problems) {
            int rank = input.table.get(Tensor.SHAPE).size();
            if (rank != shape.rank() && rank != 0) {
                problems.add(
                        "kiln.inputShapes gives the shape " + shape.text() + " of rank " + shape.rank(),
                        file + ": model input `" + input.name + "`",
                        "rank " + rank + ": " + example(input.name, input.table),
                        "");
            }
            byTensor.put(input.index, shape);
        }

        /** The shape given for a tensor. */
        Optional<Shape> of(int tensor) {
            return Optional.ofNullable(byTensor.get(tensor));
        }

        /** Whether the shapes of computed tensors are inferred from the inputs, ignoring those in the file. */
        boolean areInferred() {
            return open || !byTensor.isEmpty();
        }

        /** Dimensions that the file leaves open, except for the batch. */
        static List<Integer> openDimensions(FlatTable tensor) {
            int[] dims = tensor.get(Tensor.SHAPE).ints();
            int[] signature = tensor.get(Tensor.SHAPE_SIGNATURE).ints();
            return IntStream.range(0, dims.length)
                    .filter(i -> dims[i] < 1 || (i > 0 && signature.length == dims.length && signature[i] == -1))
                    .boxed()
                    .toList();
        }

        private static boolean isOpen(FlatTable tensor) {
            return tensor.get(Tensor.SHAPE).size() <= TensorReader.MAX_RANK
                    && !openDimensions(tensor).isEmpty();
        }

        /** The setting to suggest, with a question mark for every open dimension. */
        static String example(String name, FlatTable tensor) {
            List<Integer> open = openDimensions(tensor);
            int[] dims = tensor.get(Tensor.SHAPE).ints();
            return "kiln.inputShapes=" + name + ":"
                    + IntStream.range(0, dims.length)
                            .mapToObj(i -> open.contains(i) ? "?" : String.valueOf(dims[i]))
                            .collect(Collectors.joining(","));
        }
    }
}
