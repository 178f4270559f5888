// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A tensor of the file whose shape and type the IR can express.
 *
 * @param index in the subgraph
 * @param name as in the file; {@code tensor_<index>} if it has none
 * @param storage how the file stores its value
 * @param folded its value, if that follows from constants alone
 * @param shifted whether it is seen as int8 though the file has uint8, with 128 more in elements and zero points
 */
public record TfliteTensor(
        int index,
        String name,
        TensorType type,
        TensorQuantization quantization,
        Storage storage,
        Optional<Constant> folded,
        boolean shifted) {
    /**
     * How the file stores a tensor's value.
     *
     * @param data the constant's bytes; of size 0 for a computed tensor
     * @param variable whether it keeps its value between runs
     */
    public record Storage(FlatVector data, boolean variable) {}

    /** The constant's bytes in the file; of size 0 for a computed tensor. */
    public FlatVector data() {
        return storage.data;
    }

    /** Whether it keeps its value between runs. */
    public boolean variable() {
        return storage.variable;
    }

    /** The same tensor with a shape that follows from the inputs' shapes. */
    public TfliteTensor withShape(Shape shape) {
        return new TfliteTensor(index, name, new TensorType(shape, dtype()), quantization, storage, folded, shifted);
    }

    /** The same tensor, known at build time. */
    public TfliteTensor withValue(Constant constant) {
        return new TfliteTensor(index, name, constant.type(), quantization, storage, Optional.of(constant), shifted);
    }

    /** Whether it is quantized to unsigned 8 bits, as in models of TensorFlow 1. */
    public boolean isQuantizedUint8() {
        return dtype() == DType.UINT8 && quantization.isPresent();
    }

    /**
     * The same real values as int8: elements and zero points are reduced by 128.
     *
     * @param value its reduced elements, if it is known at build time
     */
    public TfliteTensor asInt8(Optional<Constant> value) {
        return new TfliteTensor(
                index,
                name,
                new TensorType(shape(), DType.INT8),
                quantization.shifted(DType.INT8.min()),
                storage,
                value,
                true);
    }

    /** Whether it is known at build time: from the file, from other constants, or because it has no elements. */
    public boolean isConstant() {
        return isStored() || folded.isPresent() || type.shape().elements() == 0;
    }

    /** The value that the file holds. */
    Constant stored() {
        return folded.orElseGet(() -> new Constant(name, type, Bytes.wrap(storage.data.bytes())));
    }

    /** Whether the file holds its value. */
    public boolean isStored() {
        return storage.data.size() > 0;
    }

    public DType dtype() {
        return type.dtype();
    }

    public Shape shape() {
        return type.shape();
    }

    /** A description for messages. */
    public String text() {
        return "`" + name + "` " + dtype().text() + " " + shape().text();
    }

    /** Its only scale, as an operator's argument. */
    public Constant scale() {
        return Constant.scalar(quantization.scale(0));
    }

    /** Its only zero point, as an operator's argument. */
    public Constant zeroPoint() {
        return Constant.scalar(quantization.zeroPoint());
    }

    /** Its quantization, which has one scale. */
    public Quantization affine() {
        return quantization.affine().orElseThrow();
    }

    /** Whether integers of its type are quantized: those of 8 and 16 bits. */
    public boolean hasQuantizedType() {
        return dtype().isInteger() && dtype().bytes() < Integer.BYTES;
    }

    /** Quantization of a tensor in the file, checked against the tensor's type and shape. */
    public static final class TensorQuantization {
        static final TensorQuantization NONE = new TensorQuantization(new float[0], new int[0], 0);

        private final float[] scales;
        private final int[] zeroPoints;
        private final int dimension;

        /**
         * Takes ownership of the arrays.
         *
         * @param scales one, or one per channel; empty for a tensor that is not quantized
         * @param zeroPoints as many as scales
         * @param dimension the channel dimension if there are several scales
         */
        TensorQuantization(float[] scales, int[] zeroPoints, int dimension) {
            this.scales = scales;
            this.zeroPoints = zeroPoints;
            this.dimension = dimension;
        }

        public boolean isPresent() {
            return scales.length > 0;
        }

        public boolean isPerTensor() {
            return scales.length == 1;
        }

        /** Whether it has one scale, or the same for each channel. */
        public boolean hasEqualScales() {
            return IntStream.range(1, scales.length).allMatch(i -> scales[i] == scales[0]);
        }

        public int scaleCount() {
            return scales.length;
        }

        public int dimension() {
            return dimension;
        }

        /** The scale of a channel, whether there is one scale or many. */
        public float scale(int channel) {
            return scales[isPerTensor() ? 0 : channel];
        }

        /** The zero point of a channel, whether there is one or many. */
        public int zeroPoint(int channel) {
            return zeroPoints[isPerTensor() ? 0 : channel];
        }

        public int zeroPoint() {
            return zeroPoints[0];
        }

        /** Whether every channel's zero point is 0. */
        public boolean isSymmetric() {
            for (int zeroPoint : zeroPoints) {
                if (zeroPoint != 0) {
                    return false;
                }
            }
            return true;
        }

        /** The same scales, with a number added to each zero point. */
        TensorQuantization shifted(long by) {
            int[] moved =
                    Arrays.stream(zeroPoints).map(z -> Math.toIntExact(z + by)).toArray();
            return new TensorQuantization(scales, moved, dimension);
        }

        public Optional<Quantization> affine() {
            return isPerTensor() ? Optional.of(new Quantization(scales[0], zeroPoints[0])) : Optional.empty();
        }
    }
}
