// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.TensorSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.tensorflow.lite.schema.TensorType;

/**
 * What the elements of a tensor are drawn from.
 *
 * @param tensor its type, shape and zero point
 * @param low smallest element; for floats standard deviations count instead
 * @param high largest element
 * @param floats which floats there are
 */
record RandomData(TensorSpec tensor, long low, long high, Floats floats) {
    private static final float[] EVERYTHING = {
        Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -0f, 0, Float.MAX_VALUE, -Float.MAX_VALUE, 1e-30f
    };
    private static final float[] SPECIAL = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -0f, 0};
    private static final float[] NUMBERS = {-0f, 0, 1e-30f};

    private static final float[] DENORMAL = {Float.MIN_VALUE, -Float.MIN_VALUE, 1e-40f, -1e-39f, 0, 1};

    /** What a tensor's floats are. */
    enum Floats {
        /** Infinite, not a number or at the ends of their range in every round. */
        ANYTHING,
        /** Infinite or not a number in the rounds of special floats. */
        USUAL,
        /** The same in the rounds that TensorFlow Lite is not asked for. */
        NUMBERS
    }

    private enum Kind {
        ANY,
        EXTREME,
        SMALL,
        /** Some floats are infinite, not a number or -0, and some rows of whatever type have equal elements. */
        SPECIAL,
        /** As before, with denormal floats. */
        DENORMAL
    }

    /** The type's whole range; -1000 to 1000 for signed integers that are not quantized, normally distributed floats. */
    static RandomData whole(TensorSpec tensor) {
        return switch (tensor.type()) {
            case TensorType.INT8 -> new RandomData(tensor, Byte.MIN_VALUE, Byte.MAX_VALUE, Floats.USUAL);
            case TensorType.UINT8 -> new RandomData(tensor, 0, 255, Floats.USUAL);
            case TensorType.INT16 -> new RandomData(tensor, Short.MIN_VALUE, Short.MAX_VALUE, Floats.USUAL);
            case TensorType.BOOL -> new RandomData(tensor, 0, 1, Floats.USUAL);
            case TensorType.UINT32 -> new RandomData(tensor, 0, 0xFFFFFFFFL, Floats.USUAL);
            case TensorType.UINT64 -> new RandomData(tensor, 0, -1L, Floats.USUAL);
            default -> new RandomData(tensor, -1000, 1000, Floats.USUAL);
        };
    }

    /** As {@link #whole}, but without the one value that symmetric weights do not have. */
    static RandomData weights(TensorSpec tensor) {
        return tensor.type() == TensorType.INT8 ? between(tensor, -127, 127) : whole(tensor);
    }

    static RandomData between(TensorSpec tensor, long low, long high) {
        return new RandomData(tensor, low, high, Floats.USUAL);
    }

    /** As {@link #whole}, with floats of every kind. */
    static RandomData anything(TensorSpec tensor) {
        RandomData whole = whole(tensor);
        return new RandomData(tensor, whole.low, whole.high, Floats.ANYTHING);
    }

    /** As {@link #whole}, where TensorFlow Lite answers finite floats alone, or otherwise than Kiln. */
    static RandomData numbers(TensorSpec tensor) {
        RandomData whole = whole(tensor);
        return new RandomData(tensor, whole.low, whole.high, Floats.NUMBERS);
    }

    byte[] next(Random random) {
        return next(random, Kind.ANY);
    }

    /** Data of a kind that changes with the round. */
    byte[] next(Random random, int round) {
        return next(random, Kind.values()[round % Kind.values().length]);
    }

    private byte[] next(Random random, Kind kind) {
        int rank = tensor.shape().size();
        int elements = tensor.shape().stream().reduce(1, (a, b) -> a * b);
        int row = rank == 0 ? 1 : Math.max(1, tensor.shape().get(rank - 1));
        boolean isSpecial = kind.compareTo(Kind.SPECIAL) >= 0;
        boolean isEqual = false;
        ByteBuffer buffer = ByteBuffer.allocate(elements * bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < elements; i++) {
            isEqual = i % row == 0 ? isSpecial && random.nextInt(4) == 0 : isEqual;
            if (isEqual && i % row > 0) {
                buffer.put(buffer.array(), buffer.position() - bytes(), bytes());
                continue;
            }
            switch (tensor.type()) {
                case TensorType.FLOAT32 -> buffer.putFloat(nextFloat(random, kind));
                case TensorType.INT64, TensorType.UINT64 -> buffer.putLong(nextInteger(random, kind));
                case TensorType.INT32, TensorType.UINT32 -> buffer.putInt((int) nextInteger(random, kind));
                case TensorType.INT16 -> buffer.putShort((short) nextInteger(random, kind));
                default -> buffer.put((byte) nextInteger(random, kind));
            }
        }
        return buffer.array();
    }

    private float nextFloat(Random random, Kind kind) {
        float[] special = special(random, kind);
        if (special.length > 0) {
            return special[random.nextInt(special.length)];
        }
        return switch (kind) {
            case ANY, SPECIAL, DENORMAL -> (float) random.nextGaussian();
            case EXTREME -> (float) (random.nextGaussian() * 30);
            case SMALL -> Math.round(random.nextGaussian() * 4) / 4f;
        };
    }

    /** Floats of which the next one is to be; most often none. */
    private float[] special(Random random, Kind kind) {
        if (floats == Floats.ANYTHING && random.nextInt(4) == 0) {
            return EVERYTHING;
        }
        if (kind.compareTo(Kind.SPECIAL) < 0 || random.nextInt(6) > 0) {
            return new float[0];
        }
        if (kind == Kind.SPECIAL) {
            return floats == Floats.NUMBERS ? NUMBERS : SPECIAL;
        }
        return random.nextInt(4) == 0 ? SPECIAL : DENORMAL;
    }

    private long nextInteger(Random random, Kind kind) {
        long zero = tensor.zeroPoints().isEmpty() ? 0 : tensor.zeroPoints().get(0);
        return switch (kind) {
            case ANY, SPECIAL, DENORMAL ->
                tensor.type() == TensorType.UINT64
                        ? random.nextLong() >>> random.nextInt(Long.SIZE)
                        : low + (long) (random.nextDouble() * (high - low + 1));
            case EXTREME -> random.nextBoolean() ? low : high;
            case SMALL ->
                tensor.type() == TensorType.UINT64
                        ? random.nextInt(4)
                        : Math.max(low, Math.min(high, zero + random.nextInt(7) - 3));
        };
    }

    private int bytes() {
        return switch (tensor.type()) {
            case TensorType.FLOAT32, TensorType.INT32, TensorType.UINT32 -> 4;
            case TensorType.INT64, TensorType.UINT64 -> 8;
            case TensorType.INT16 -> 2;
            case TensorType.INT8, TensorType.UINT8, TensorType.BOOL -> 1;
            default -> throw new IllegalArgumentException("no random data of type " + TensorType.name(tensor.type()));
        };
    }
}
