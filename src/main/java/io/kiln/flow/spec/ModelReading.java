// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.ByteSize;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.onnx.OnnxIo;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Memory;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How model files are read.
 *
 * @param onnxIo layout of the images at the border of an ONNX model
 * @param limit most bytes of a model file; empty for a limit that follows the board
 * @param onnxData folder of external data; empty for files directly beside the model
 */
public record ModelReading(OnnxIo onnxIo, OptionalLong limit, Optional<Path> onnxData) {
    /** The model's own layout, the board's limit, and data beside the model. */
    public static final ModelReading STANDARD = new ModelReading(OnnxIo.MODEL, OptionalLong.empty(), Optional.empty());

    /**
     * From parameters.
     *
     * @param onnxIo {@code kiln.onnx.io}
     * @param limit {@code kiln.limit.model}; empty if it is not set
     * @param onnxData {@code kiln.onnx.data}
     * @throws KilnException for a value that is none
     */
    public static ModelReading parse(String onnxIo, Optional<String> limit, Optional<Path> onnxData) {
        OptionalLong bytes = limit.map(text -> ByteSize.parse(text.strip()).orElse(0L))
                .map(OptionalLong::of)
                .orElse(OptionalLong.empty());
        if (bytes.isPresent() && bytes.getAsLong() < 1) {
            throw new KilnException(new Problem(
                    "kiln.limit.model is '" + limit.orElse("") + "'",
                    "",
                    "bytes, or a number with K, M or G, such as 64M",
                    "Correct kiln.limit.model"));
        }
        return new ModelReading(OnnxIo.parse(onnxIo), bytes, onnxData);
    }

    /** The limits of a build for a board; a board without memories is this computer. */
    public ReadLimits limits(Board board) {
        long memories = board.memories().stream().mapToLong(Memory::size).sum();
        return limits(memories == 0 ? ReadLimits.hostBytes() : memories);
    }

    /** The limits of a build whose board is unknown or this computer. */
    public ReadLimits limits() {
        return limits(ReadLimits.hostBytes());
    }

    private ReadLimits limits(long boardBytes) {
        return new ReadLimits(limit, boardBytes, onnxData);
    }
}
