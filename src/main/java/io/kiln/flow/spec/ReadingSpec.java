// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.ByteSize;
import io.kiln.base.Problems;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.onnx.OnnxIo;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Memory;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How model files are read.
 *
 * @param customOperators operators computed by the user's C functions
 * @param onnxIo layout of the images at the border of an ONNX model
 * @param rounding whose arithmetic the operators of a TensorFlow Lite model have
 * @param limit most bytes of a model file; empty for a limit that follows the board
 * @param onnxData folder of external data; empty for files directly beside the model
 */
public record ReadingSpec(
        CustomOperators customOperators,
        OnnxIo onnxIo,
        TfliteRounding rounding,
        OptionalLong limit,
        Optional<Path> onnxData) {
    /** No custom operators, and the parameters' defaults. */
    public static final ReadingSpec STANDARD = new ReadingSpec(
            CustomOperators.NONE, OnnxIo.MODEL, TfliteRounding.MICRO, OptionalLong.empty(), Optional.empty());

    /**
     * From parameters, without custom operators.
     *
     * @param onnxIo {@code kiln.onnx.io}
     * @param rounding {@code kiln.tflite.rounding}
     * @param limit {@code kiln.limit.model}; empty if it is not set
     * @param onnxData {@code kiln.onnx.data}
     * @throws io.kiln.base.KilnException for a value that is none
     */
    public static ReadingSpec parse(String onnxIo, String rounding, Optional<String> limit, Optional<Path> onnxData) {
        OptionalLong bytes = limit.map(text -> ByteSize.parse(text.strip()).orElse(0L))
                .map(OptionalLong::of)
                .orElse(OptionalLong.empty());
        Problems problems = new Problems();
        if (bytes.isPresent() && bytes.getAsLong() < 1) {
            problems.add(
                    "kiln.limit.model is '" + limit.orElse("") + "'",
                    "",
                    "bytes, or a number with K, M or G, such as 64M",
                    "Correct kiln.limit.model");
        }
        problems.throwIfAny();
        return new ReadingSpec(
                CustomOperators.NONE, OnnxIo.parse(onnxIo), TfliteRounding.parse(rounding), bytes, onnxData);
    }

    ReadingSpec with(CustomOperators other) {
        return new ReadingSpec(other, onnxIo, rounding, limit, onnxData);
    }

    /** The limits of a build for a board; no more than for one without memories, which is this computer. */
    public ReadLimits limits(Board board) {
        long memories = board.memories().stream().mapToLong(Memory::size).sum();
        return limits(memories == 0 ? ReadLimits.hostBytes() : Math.min(memories, ReadLimits.hostBytes()));
    }

    /** The limits of a build whose board is unknown or this computer. */
    public ReadLimits limits() {
        return limits(ReadLimits.hostBytes());
    }

    private ReadLimits limits(long boardBytes) {
        return new ReadLimits(limit, boardBytes, onnxData);
    }
}
