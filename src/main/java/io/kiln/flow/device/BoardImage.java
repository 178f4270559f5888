// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.device.flash.FlashFailure;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.firmware.image.ImageFiles.LoadImage;
import io.kiln.toolchain.board.Board;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;

/** The part of a linked image that goes into a board's flash. */
public final class BoardImage {
    private BoardImage() {}

    /**
     * Reads an image and checks it against the board's memories.
     *
     * @throws KilnException if there is no image, it is empty, or it has bytes outside the board's rom memories
     */
    public static FlashImage read(Board board, Path elf) {
        requireLinked(elf);
        if (board.projectApi().isPresent()) {
            return whole(elf);
        }
        FlashImage image = FlashImage.of(blocks(elf));
        if (image.size() == 0) {
            throw Failure.PROJECT.exception("the image is empty", elf.toString());
        }
        checkMemories(board, image);
        return image;
    }

    /**
     * Reads only the parameters of graphs from an image.
     *
     * @throws KilnException also if they do not have flash sectors of their own
     */
    static FlashImage parameters(Board board, Path elf) {
        requireLinked(elf);
        if (board.parameters().isEmpty()) {
            throw Failure.BOARD.exception(
                    "the board " + board.id() + " has no flash sectors for parameters alone",
                    board.origin(),
                    "pools.parameters in board.yaml, and a linker script for it",
                    "Flash the whole image: leave kiln.flash.only out");
        }
        long first = board.parameters().getAsLong();
        FlashImage image = FlashImage.of(
                blocks(elf).stream().filter(block -> block.address() >= first).toList());
        if (image.size() == 0) {
            throw Failure.PROJECT.exception(
                    "the image has no parameters of its own",
                    elf.toString(),
                    "kiln.executor graph and kiln.linkParams false",
                    "Set -Dkiln.executor=graph -Dkiln.linkParams=false, and flash the whole image once");
        }
        checkMemories(board, image);
        return image;
    }

    private static void requireLinked(Path elf) {
        if (!Files.isRegularFile(elf)) {
            throw Failure.PROJECT.exception(
                    "the image has not been linked yet",
                    elf.toString(),
                    "kiln:link before this goal",
                    "Run the whole lifecycle, for example mvn deploy");
        }
    }

    private static List<FlashImage.Segment> blocks(Path elf) {
        List<FlashImage.Segment> blocks = new ArrayList<>();
        for (LoadImage.Block block : LoadImage.of(ElfFile.read(elf)).blocks()) {
            blocks.add(new FlashImage.Segment(block.address(), block.content()));
        }
        return blocks;
    }

    /** The whole archive as content to flash: only the server knows what it makes of it, and where it writes that. */
    private static FlashImage whole(Path archive) {
        return FlashImage.of(List.of(new FlashImage.Segment(0, WholeFiles.read(archive))));
    }

    /** Refuses bytes outside the board's rom memories, before a probe is involved. */
    private static void checkMemories(Board board, FlashImage image) {
        for (FlashImage.Segment segment : image.segments()) {
            boolean isInRom = board.memories().stream()
                    .anyMatch(memory -> memory.kind() == Board.Kind.ROM
                            && segment.address() >= memory.base()
                            && segment.end() <= memory.end());
            if (!isInRom) {
                String detail = String.format(Locale.ROOT, "0x%08x to 0x%08x", segment.address(), segment.end() - 1);
                throw new FlashFailure(Kind.OUTSIDE_FLASH, detail, OptionalLong.of(segment.address()), false)
                        .exception(board.origin());
            }
        }
    }
}
