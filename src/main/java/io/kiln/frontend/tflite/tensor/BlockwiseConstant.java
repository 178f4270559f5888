// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.schema.BlockwiseQuantization;
import io.kiln.frontend.tflite.schema.ModelTables.QuantizationParameters;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * Weights with a scale for each block of consecutive elements of a row: {@code scale[block] * (element - zeroPoint[block])}, as constants of
 * float32.
 */
final class BlockwiseConstant {
    /** The index of no tensor. */
    private static final int NONE = -1;

    private BlockwiseConstant() {}

    /** Whether a tensor is quantized like this; its scales, if it states any, then have no meaning. */
    static boolean is(Optional<FlatTable> quantization) {
        return quantization
                .filter(table -> table.get(QuantizationParameters.DETAILS_TYPE) == BlockwiseQuantization.CODE)
                .isPresent();
    }

    /**
     * The real numbers.
     *
     * @param elements the integers
     * @param tensors reads the constants that are scales and zero points
     */
    static Constant of(
            FlatTable quantization, Constant elements, IntFunction<TfliteTensor> tensors, PlaceFindings findings) {
        FlatTable details = quantization
                .get(QuantizationParameters.DETAILS)
                .orElseThrow(() -> failure(findings, "its blockwise quantization is missing", "scales of blocks"));
        int block = details.get(BlockwiseQuantization.BLOCK_SIZE);
        Shape shape = elements.type().shape();
        if (block < 1 || shape.rank() == 0 || shape.dim(-1) % block != 0) {
            throw failure(
                    findings,
                    "its rows of " + shape.text() + " have blocks of " + block,
                    "blocks that divide the rows");
        }
        int blocks = elements.elements() / block;
        Constant scales = numbers(tensors.apply(details.get(BlockwiseQuantization.SCALES)), blocks, true, findings);
        int zeroIndex = details.get(BlockwiseQuantization.ZERO_POINTS);
        Optional<Constant> zeros = zeroIndex == NONE
                ? Optional.empty()
                : Optional.of(numbers(tensors.apply(zeroIndex), blocks, false, findings));
        quantization.spend(Float.BYTES * (long) elements.elements());
        ByteBuffer reals =
                ByteBuffer.allocate(Float.BYTES * elements.elements()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < elements.elements(); i++) {
            int of = i / block;
            long zero = zeros.map(z -> z.integer(of)).orElse(0L);
            reals.putFloat(scales.real(of) * (elements.integer(i) - zero));
        }
        return new Constant(elements.name(), new TensorType(shape, DType.FLOAT32), Bytes.wrap(reals.array()));
    }

    private static Constant numbers(TfliteTensor tensor, int blocks, boolean areReal, PlaceFindings findings) {
        Optional<Constant> value = tensor.isStored() ? Optional.of(tensor.stored()) : Optional.empty();
        return value.filter(constant ->
                        constant.elements() == blocks && tensor.dtype().isFloat() == areReal)
                .orElseThrow(() -> failure(
                        findings,
                        "its blocks have the " + (areReal ? "scales " : "zero points ") + tensor.text(),
                        blocks + " constants of " + (areReal ? "float16 or float32" : "integers")));
    }

    private static RuntimeException failure(PlaceFindings findings, String what, String expected) {
        findings.add(what, expected, "Quantize the model again");
        return findings.exception();
    }
}
