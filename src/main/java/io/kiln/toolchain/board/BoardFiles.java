// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.PlainZip;
import io.kiln.base.PlainZip.Kind;
import io.kiln.base.PlainZip.Limits;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.toolchain.pack.Packs.DeviceBoard;
import io.kiln.toolchain.yaml.YamlDocument;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
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

    /** Profiles that are all in memory. */
    sealed interface InMemory extends BoardFiles {
        /** All files by path: folder, then path in the folder. */
        SortedMap<String, Bytes> files();

        /** The folders that have a descriptor. */
        @Override
        default SortedSet<String> ids() {
            TreeSet<String> ids = new TreeSet<>();
            files().keySet().stream()
                    .filter(path -> path.endsWith("/" + DESCRIPTOR) && path.indexOf('/') == path.lastIndexOf('/'))
                    .forEach(path -> ids.add(path.substring(0, path.indexOf('/'))));
            return ids;
        }

        @Override
        default Optional<SortedMap<String, Bytes>> read(String id) {
            TreeMap<String, Bytes> own = new TreeMap<>();
            String prefix = id + "/";
            files().tailMap(prefix).entrySet().stream()
                    .takeWhile(file -> file.getKey().startsWith(prefix))
                    .forEach(file -> own.put(file.getKey().substring(prefix.length()), file.getValue()));
            return own.containsKey(DESCRIPTOR) ? Optional.of(own) : Optional.empty();
        }
    }

    /**
     * Profiles of an artifact from a repository.
     *
     * @param files all of them by path: folder, then path in the folder
     * @param coordinates {@code group:artifact:version}
     * @param trusted what the build trusts: {@code group:artifact}, {@code group:artifact:version} or {@code group:artifact:version:id}
     */
    record Archive(SortedMap<String, Bytes> files, String coordinates, Set<String> trusted) implements InMemory {
        static Archive load(Path zip, String coordinates, Set<String> trusted) {
            return new Archive(BoardArchive.read(zip), coordinates, trusted);
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
    record BuiltIn(SortedMap<String, Bytes> files) implements InMemory {
        static BuiltIn load() {
            return new BuiltIn(ResourceTree.read("toolchains/boards"));
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

    /**
     * A profile and those it extends, nearest first. A key comes as a whole from the nearest profile that has it; so does a
     * file. In {@code console} and {@code clock} each key is inherited separately, because their parts are independent, unlike those of an
     * emulator or a flash runner. README files and descriptors are not inherited.
     */
    record MergedProfile(String id, List<Layer> layers) {
        /**
         * One board.yaml with the files of its folder.
         *
         * @param untrusted {@code group:artifact:version:id}, if it is from a repository and untrusted
         * @param pack of the device, if it was made from one
         */
        record Layer(
                YamlDocument document,
                SortedMap<String, Bytes> files,
                Optional<String> untrusted,
                Optional<Pack> pack) {
            /**
             * The pack that a profile was made from.
             *
             * @param place file or folder
             * @param most clock of the core that the device takes, in hertz; empty if the pack does not tell
             */
            record Pack(Path place, OptionalLong most) {}

            boolean foreign() {
                return untrusted.isPresent();
            }
        }

        public MergedProfile {
            layers = List.copyOf(layers);
        }

        private static final Set<String> BY_PARTS = Set.of("clock", "console");

        /** The nearest value of a top-level key, or of each of its parts for {@code console} and {@code clock}. */
        Optional<JsonNode> find(String key) {
            List<JsonNode> values = layers.stream()
                    .map(layer -> layer.document().root().get(key))
                    .filter(node -> node != null && !node.isNull())
                    .toList();
            if (!BY_PARTS.contains(key) || values.isEmpty()) {
                return values.stream().findFirst();
            }
            ObjectNode merged = JsonNodeFactory.instance.objectNode();
            for (JsonNode value : values) {
                value.properties().forEach(part -> merged.putIfAbsent(part.getKey(), part.getValue()));
            }
            return Optional.of(merged);
        }

        /** Whether the nearest profile with one key inherits the other one from further up. */
        boolean isNearer(String key, String other) {
            return depth(key) < depth(other);
        }

        private int depth(String key) {
            return (int) layers.stream()
                    .takeWhile(layer -> !layer.document().root().hasNonNull(key))
                    .count();
        }

        /** File and line of a JSON pointer, in the profile that its top-level key comes from. */
        String where(String pointer) {
            return origin(pointer).where(pointer);
        }

        /** File, line and column of a JSON pointer, as {@link #where}. */
        String exactly(String pointer) {
            return origin(pointer).exactly(pointer);
        }

        private YamlDocument origin(String pointer) {
            String key = pointer.isEmpty() ? "" : pointer.split("/", -1)[1];
            String deep = BY_PARTS.contains(key) ? pointer : "/" + key;
            return layers.stream()
                    .filter(layer ->
                            !key.isEmpty() && !layer.document().root().at(deep).isMissingNode())
                    .findFirst()
                    .orElse(layers.get(0))
                    .document();
        }

        SortedMap<String, Bytes> files() {
            TreeMap<String, Bytes> files = new TreeMap<>();
            owners().forEach((name, layer) -> files.put(name, layer.files().get(name)));
            return files;
        }

        /** The pack of the board's device, if a profile names one. */
        Optional<Layer.Pack> pack() {
            return layers.stream().flatMap(layer -> layer.pack().stream()).findFirst();
        }

        /** The coordinates of each untrusted layer. */
        List<String> untrusted() {
            return layers.stream().flatMap(layer -> layer.untrusted().stream()).toList();
        }

        /** The files of untrusted layers. */
        Set<String> foreignFiles() {
            TreeSet<String> names = new TreeSet<>();
            owners().forEach((name, layer) -> {
                if (layer.foreign()) {
                    names.add(name);
                }
            });
            return names;
        }

        /** The profile that each file comes from. */
        private SortedMap<String, Layer> owners() {
            TreeMap<String, Layer> owners = new TreeMap<>();
            for (int i = layers.size() - 1; i >= 0; i--) {
                Layer layer = layers.get(i);
                boolean own = i == 0;
                for (String name : layer.files().keySet()) {
                    if (own || !(name.equals(BoardFiles.DESCRIPTOR) || name.equals("README.md"))) {
                        owners.put(name, layer);
                    }
                }
            }
            return owners;
        }

        /** The path of a file in messages; a file that none of the profiles has counts to the nearest one. */
        String fileWhere(String name) {
            return owners().getOrDefault(name, layers.get(0)).document().name().replace(BoardFiles.DESCRIPTOR, name);
        }

        String origin() {
            return layers.get(0).document().name();
        }
    }
}
