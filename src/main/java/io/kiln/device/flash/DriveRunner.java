// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.FileFailure;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.ProgramRunner.ProgramSteps;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Flashes boards whose boot loader shows a USB drive, by copying a UF2 file to it. The boot loader takes the drive away when it has all blocks,
 * which is all that it tells: it ignores files for other chips, and what it wrote cannot be read back.
 *
 * @param drives their folders, at least one
 * @param boardId the Board-ID that each must have; empty for any
 * @param family the chip's family
 * @param patience how long a drive may stay after it has the file
 */
public record DriveRunner(List<Probe> drives, String boardId, OptionalLong family, Duration patience)
        implements FlashRunner {
    private static final long LOOK_AGAIN_MILLIS = 50;

    public DriveRunner {
        drives = List.copyOf(drives);
    }

    @Override
    public String tool() {
        return "a copy to the UF2 drive";
    }

    @Override
    public List<Probe> probes() {
        return drives;
    }

    @Override
    public boolean verifies() {
        return false;
    }

    @Override
    public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
        long start = System.nanoTime();
        Optional<FlashFailure> failure = copy(Path.of(probe.text()), ProgramSteps.uf2(image, family));
        if (failure.isEmpty()) {
            progress.written(image.size());
        }
        return new FlashResult(probe, false, image.size(), Duration.ofNanos(System.nanoTime() - start), failure);
    }

    private Optional<FlashFailure> copy(Path drive, byte[] content) {
        Optional<String> there = Uf2Drives.boardId(drive);
        if (there.isEmpty()) {
            return Optional.of(FlashFailure.before(
                    Kind.NO_PROBE,
                    drive + " has no " + Uf2Drives.INFO
                            + "; bring the board into its boot loader, and mount its drive"));
        }
        if (!boardId.isEmpty() && !boardId.equals(there.get())) {
            return Optional.of(
                    FlashFailure.before(Kind.WRONG_CHIP, "its Board-ID is " + there.get() + ", not " + boardId));
        }
        ByteBuffer left = ByteBuffer.wrap(content);
        // A drive of somebody else may have a link in place of the file, which leads anywhere.
        try (FileChannel file = FileChannel.open(
                drive.resolve("kiln.uf2"),
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS)) {
            while (left.hasRemaining()) {
                file.write(left);
            }
            file.force(true);
        } catch (IOException e) {
            // The board restarts with the last block, so that what follows the last byte may fail.
            if (left.hasRemaining()) {
                String said = FileFailure.of("cannot write", drive, e).getMessage();
                return Optional.of(new FlashFailure(
                        Files.exists(drive.resolve(Uf2Drives.INFO)) ? Kind.WRITE_ERROR : Kind.PROBE_LOST,
                        said,
                        OptionalLong.empty(),
                        left.position() > 0));
            }
        }
        return awaitGone(drive);
    }

    private Optional<FlashFailure> awaitGone(Path drive) {
        long end = System.nanoTime() + patience.toNanos();
        while (Files.exists(drive.resolve(Uf2Drives.INFO))) {
            if (System.nanoTime() > end) {
                return Optional.of(FlashFailure.before(
                        Kind.WRONG_CHIP,
                        "the drive is still there after " + patience.toMillis()
                                + " ms: its boot loader takes files of another family"));
            }
            try {
                Thread.sleep(LOOK_AGAIN_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Optional.of(FlashFailure.interrupted(true));
            }
        }
        return Optional.empty();
    }

    /** Does nothing: nothing is held. */
    @Override
    public void close() {}

    /** Finds the drives of boot loaders that take UF2 files: each has a file that says so. */
    public static final class Uf2Drives {
        /** The file at a drive's root, whose case does not matter to its file system. */
        static final String INFO = "INFO_UF2.TXT";

        /** Where Linux lists what is mounted. */
        public static final Path MOUNTS = Path.of("/proc/mounts");

        private static final Path VOLUMES = Path.of("/Volumes");
        private static final int MOST_BYTES = 4096;
        private static final int OCTAL = 8;
        private static final Pattern BOARD_ID = Pattern.compile("(?mi)^Board-ID:[ \\t]*([!-~][ -~]{0,80}?)\\s*$");
        private static final Pattern ESCAPE = Pattern.compile("\\\\([0-7]{3})");

        private Uf2Drives() {}

        /**
         * The drives of this computer.
         *
         * @param mounts the list of mounted file systems, where the system has one
         */
        public static List<Path> find(Path mounts) {
            List<Path> places = new ArrayList<>();
            FileSystems.getDefault().getRootDirectories().forEach(places::add);
            if (Files.isRegularFile(mounts)) {
                places.addAll(mounted(mounts));
            }
            if (Files.isDirectory(VOLUMES)) {
                try (Stream<Path> volumes = Files.list(VOLUMES)) {
                    volumes.forEach(places::add);
                } catch (IOException e) {
                    // What cannot be listed has no drives that could be used.
                    return places;
                }
            }
            return places.stream()
                    .filter(place -> boardId(place).isPresent())
                    .distinct()
                    .sorted()
                    .toList();
        }

        private static List<Path> mounted(Path mounts) {
            List<Path> places = new ArrayList<>();
            try {
                for (String line : Files.readAllLines(mounts, StandardCharsets.ISO_8859_1)) {
                    String[] fields = line.split(" ", -1);
                    if (fields.length > 2 && fields[2].matches("vfat|msdos|exfat|fuseblk")) {
                        places.add(Path.of(unescaped(fields[1])));
                    }
                }
            } catch (IOException | InvalidPathException e) {
                return places;
            }
            return places;
        }

        /** A path in the list, where octal numbers stand for spaces; its bytes are those of the system. */
        private static String unescaped(String field) {
            String bytes = ESCAPE.matcher(field)
                    .replaceAll(match ->
                            Matcher.quoteReplacement(Character.toString(Integer.parseInt(match.group(1), OCTAL))));
            return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
        }

        /** What a drive's file calls the board; empty if this is no such drive. */
        static Optional<String> boardId(Path drive) {
            try (InputStream in = Files.newInputStream(drive.resolve(INFO))) {
                String text = new String(in.readNBytes(MOST_BYTES), StandardCharsets.ISO_8859_1);
                return BOARD_ID.matcher(text)
                        .results()
                        .map(match -> match.group(1))
                        .findFirst();
            } catch (IOException e) {
                return Optional.empty();
            }
        }
    }
}
