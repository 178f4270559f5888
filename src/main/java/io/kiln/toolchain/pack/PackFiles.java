// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.PlainZip;
import io.kiln.base.PlainZip.Kind;
import io.kiln.base.PlainZip.Limits;
import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The files of a pack. They are found whatever the case of their letters, as on the computers of their authors. */
sealed interface PackFiles {
    /** Descriptions of peripherals have a few megabytes, descriptions of packs less. */
    int MOST_BYTES = 32 << 20;

    /** Paths of all files for which something holds, sorted. */
    List<String> names(Predicate<String> wanted);

    /**
     * A file; empty if the pack, as far as it is there, has none of this path.
     *
     * @throws KilnException if it cannot be read safely
     */
    Optional<Bytes> read(String path);

    /**
     * A pack as vendors publish it.
     *
     * @param file a zip
     * @param all its names
     */
    record Zip(Path file, List<String> all) implements PackFiles {
        /** Packs have up to half a gigabyte; only a few files of one are read. */
        private static final Kind PACKS = new Kind(
                "a CMSIS-Pack", "pack", "SVD/device.svd", 1, new Limits(1 << 30, 200_000, MOST_BYTES, MOST_BYTES));

        static Zip open(Path file) {
            return new Zip(file, List.copyOf(PlainZip.names(PACKS, file)));
        }

        @Override
        public List<String> names(Predicate<String> wanted) {
            return all.stream().filter(wanted).toList();
        }

        @Override
        public Optional<Bytes> read(String path) {
            return all.stream()
                    .filter(path::equalsIgnoreCase)
                    .min(Comparator.comparing(name -> !name.equals(path)))
                    .flatMap(name -> PlainZip.file(PACKS, file, name));
        }
    }

    /**
     * A pack that somebody unpacked, or only its description.
     *
     * @param root the folder of the description
     */
    record Folder(Path root) implements PackFiles {
        private static final int MOST_FILES = 200_000;
        private static final int MOST_DEPTH = 32;

        @Override
        public List<String> names(Predicate<String> wanted) {
            try (Stream<Path> walk = Files.walk(root, MOST_DEPTH)) {
                return walk.limit(MOST_FILES)
                        .filter(Files::isRegularFile)
                        .map(path -> root.relativize(path).toString().replace('\\', '/'))
                        .filter(wanted)
                        .sorted()
                        .toList();
            } catch (IOException | UncheckedIOException e) {
                throw FileFailure.of("cannot list", root, e);
            }
        }

        @Override
        public Optional<Bytes> read(String path) {
            Path folder = root.toAbsolutePath().normalize();
            for (String segment : path.split("/", -1)) {
                Optional<Path> next = isPlain(segment) ? child(folder, segment) : Optional.empty();
                if (next.isEmpty()) {
                    return Optional.empty();
                }
                folder = next.get();
            }
            return Files.isRegularFile(folder) ? Optional.of(content(folder)) : Optional.empty();
        }

        private static boolean isPlain(String segment) {
            return !segment.isBlank() && !segment.equals("..") && !segment.equals(".") && segment.indexOf(':') < 0;
        }

        private static Optional<Path> child(Path folder, String name) {
            if (!Files.isDirectory(folder)) {
                return Optional.empty();
            }
            List<Path> alike = WholeFiles.list(folder).stream()
                    .filter(child -> child.getFileName().toString().equalsIgnoreCase(name))
                    .toList();
            return alike.stream()
                    .filter(child -> child.getFileName().toString().equals(name))
                    .findFirst()
                    .or(() -> alike.stream().findFirst());
        }

        private Bytes content(Path file) {
            try {
                if (!file.toRealPath().startsWith(root.toRealPath())) {
                    throw Failure.BOARD.exception("the link leads out of the pack", file.toString());
                }
                return PackFiles.content(file);
            } catch (IOException e) {
                throw FileFailure.of("cannot read", file, e);
            }
        }
    }

    /** A file that is read as a whole. */
    static Bytes content(Path file) {
        return WholeFiles.read(file, MOST_BYTES, Failure.BOARD);
    }

    /** Whether a name is that of a pack's description. */
    static boolean isDescription(String name) {
        return name.toLowerCase(Locale.ROOT).endsWith(".pdsc");
    }
}
