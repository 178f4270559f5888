// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.PlainZip;
import io.kiln.base.PlainZip.Kind;
import io.kiln.base.PlainZip.Limits;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.toolchain.pack.Packs.DeviceBoard;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** A source of profiles: one folder per profile. */
sealed interface BoardFiles {
    /** Name of the descriptor in each folder. */
    String DESCRIPTOR = "board.yaml";

    /** The profiles' folders, abstract profiles included. */
    SortedSet<String> ids();

    /** The files of one folder by relative path; empty if there is no such folder. */
    Optional<SortedMap<String, Bytes>> read(String id);

    /** The name of a profile's file in messages. */
    String describe(String id, String file);

    /** The name of the source in lists of boards. */
    String origin();

    /** If this profile is from a repository and untrusted, the coordinates to trust. */
    default Optional<String> untrusted(String id) {
        return Optional.empty();
    }

    /** The folders in memory that have a descriptor. */
    private static SortedSet<String> idsOf(SortedMap<String, Bytes> files) {
        TreeSet<String> ids = new TreeSet<>();
        files.keySet().stream()
                .filter(path -> path.endsWith("/" + DESCRIPTOR) && path.indexOf('/') == path.lastIndexOf('/'))
                .forEach(path -> ids.add(path.substring(0, path.indexOf('/'))));
        return ids;
    }

    /** The files of one folder in memory, by relative path. */
    private static Optional<SortedMap<String, Bytes>> readOf(SortedMap<String, Bytes> files, String id) {
        TreeMap<String, Bytes> own = new TreeMap<>();
        String prefix = id + "/";
        files.tailMap(prefix).entrySet().stream()
                .takeWhile(file -> file.getKey().startsWith(prefix))
                .forEach(file -> own.put(file.getKey().substring(prefix.length()), file.getValue()));
        return own.containsKey(DESCRIPTOR) ? Optional.of(own) : Optional.empty();
    }

    /**
     * Profiles of an artifact from a repository.
     *
     * @param files all of them by path: folder, then path in the folder
     * @param coordinates {@code group:artifact:version}
     * @param trusted what the build trusts: {@code group:artifact}, {@code group:artifact:version} or {@code group:artifact:version:id}
     */
    record Archive(SortedMap<String, Bytes> files, String coordinates, Set<String> trusted) implements BoardFiles {
        static Archive load(Path zip, String coordinates, Set<String> trusted) {
            return new Archive(BoardArchive.read(zip), coordinates, trusted);
        }

        @Override
        public SortedSet<String> ids() {
            return BoardFiles.idsOf(files);
        }

        @Override
        public Optional<SortedMap<String, Bytes>> read(String id) {
            return BoardFiles.readOf(files, id);
        }

        @Override
        public String origin() {
            return coordinates;
        }

        @Override
        public String describe(String id, String file) {
            return coordinates + ", " + id + "/" + file;
        }

        @Override
        public Optional<String> untrusted(String id) {
            String whole = coordinates + ":" + id;
            // An id alone does not identify a board: anybody can use any id.
            boolean isTrusted =
                    trusted.stream().anyMatch(each -> each.contains(":") && (whole + ":").startsWith(each + ":"));
            return isTrusted ? Optional.empty() : Optional.of(whole);
        }
    }

    /**
     * The profiles that come with Kiln.
     *
     * @param files all of them by path: folder, then path in the folder
     */
    record BuiltIn(SortedMap<String, Bytes> files) implements BoardFiles {
        static BuiltIn load() {
            return new BuiltIn(ResourceTree.read("toolchains/boards"));
        }

        @Override
        public SortedSet<String> ids() {
            return BoardFiles.idsOf(files);
        }

        @Override
        public Optional<SortedMap<String, Bytes>> read(String id) {
            return BoardFiles.readOf(files, id);
        }

        @Override
        public String origin() {
            return "built in";
        }

        @Override
        public String describe(String id, String file) {
            return "built-in board " + id + "/" + file;
        }
    }

    /**
     * Profiles in a folder of the project.
     *
     * @param root the folder, such as {@code src/main/boards}; may be absent
     */
    record Folder(Path root) implements BoardFiles {
        private static final int MAX_FILES = 200;
        private static final int MAX_DEPTH = 6;
        private static final long MAX_FILE_BYTES = 1 << 20;

        @Override
        public SortedSet<String> ids() {
            TreeSet<String> ids = new TreeSet<>();
            if (Files.isDirectory(root)) {
                WholeFiles.list(root).stream()
                        .filter(folder -> Files.isRegularFile(folder.resolve(DESCRIPTOR)))
                        .forEach(folder -> ids.add(folder.getFileName().toString()));
            }
            return ids;
        }

        @Override
        public Optional<SortedMap<String, Bytes>> read(String id) {
            Path folder = root.resolve(id);
            if (!Files.isRegularFile(folder.resolve(DESCRIPTOR))) {
                return Optional.empty();
            }
            try (Stream<Path> walk = Files.walk(folder, MAX_DEPTH)) {
                List<Path> paths = walk.filter(p -> !Files.isDirectory(p, LinkOption.NOFOLLOW_LINKS))
                        .limit(MAX_FILES + 1L)
                        .toList();
                if (paths.size() > MAX_FILES) {
                    throw Failure.BOARD.exception(
                            "the profile has too many files", folder.toString(), "at most " + MAX_FILES);
                }
                TreeMap<String, Bytes> files = new TreeMap<>();
                for (Path path : paths) {
                    files.put(folder.relativize(path).toString().replace('\\', '/'), content(folder, path));
                }
                return Optional.of(files);
            } catch (IOException | UncheckedIOException e) {
                throw FileFailure.of("cannot read", folder, e);
            }
        }

        private static Bytes content(Path folder, Path path) throws IOException {
            if (!path.toRealPath().startsWith(folder.toRealPath())) {
                throw Failure.BOARD.exception(
                        "the link leads out of the profile's folder", path.toString(), "", "Copy the file there");
            }
            long most = path.toString().endsWith(".svd") ? DeviceBoard.MOST_SVD : MAX_FILE_BYTES;
            if (!Files.isRegularFile(path) || Files.size(path) > most) {
                throw Failure.BOARD.exception(
                        "this is not a file of a board profile",
                        path.toString(),
                        "plain files of at most " + most + " bytes");
            }
            return Bytes.wrap(Files.readAllBytes(path));
        }

        @Override
        public String origin() {
            return "the project";
        }

        @Override
        public String describe(String id, String file) {
            return root.resolve(id).resolve(file).toString();
        }
    }

    /** A zip of board profiles, one folder per profile at its root. */
    final class BoardArchive {
        /** Descriptions of peripherals are the only large files. */
        private static final Kind PROFILES = new Kind(
                "board profiles",
                "board-profile",
                "my-board/startup.c",
                2,
                new Limits(32 << 20, 2_000, 1 << 20, 32L << 20),
                Map.of(".svd", DeviceBoard.MOST_SVD));

        private BoardArchive() {}

        /**
         * The files by path: folder, then path in the folder.
         *
         * @throws io.kiln.base.KilnException naming the entry, if the file is too large, is not a zip, or has entries that no profile needs
         */
        static SortedMap<String, Bytes> read(Path zip) {
            return PlainZip.read(PROFILES, zip);
        }

        static void write(BoardFiles profiles, Path zip) {
            TreeMap<String, Bytes> files = new TreeMap<>();
            for (String id : profiles.ids()) {
                profiles.read(id).orElseThrow().forEach((name, content) -> files.put(id + "/" + name, content));
            }
            PlainZip.write(PROFILES, files, zip);
        }
    }
}
