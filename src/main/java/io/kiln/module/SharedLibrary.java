// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.LazyList;
import io.kiln.base.elf.ElfFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A shared library with its tree of modules, read without loading or running it.
 *
 * @param tree its modules
 * @param functions the functions that it exports, sorted
 * @param artifacts those that it carries instead of modules; empty if it carries none
 * @param blobBytes size of the blob; 0 if there is none, and the library is the only module
 */
public record SharedLibrary(ModuleTree tree, List<String> functions, ArtifactSet artifacts, int blobBytes) {
    private static final ArtifactSet NONE = new ArtifactSet(List.of());
    private static final long COUNT_BYTES = 8;

    /** Functions that linkers add to every library. */
    private static final Set<String> START_AND_END = Set.of("_init", "_fini");

    /** Variables that TVM's loader fills, and the blob. A library that exports one of them is one of TVM's. */
    private static final List<String> MARKS = List.of(ModuleBlob.SYMBOL, "__tvm_module_ctx", "__TVM");

    public SharedLibrary {
        functions = LazyList.copyOf(functions);
    }

    /** Whether an ELF file is such a library. */
    public static boolean isLibrary(ElfFile file) {
        return file.dynamicSymbols().stream()
                .filter(ElfFile.Symbol::isExported)
                .anyMatch(symbol -> MARKS.stream().anyMatch(symbol.name()::contains));
    }

    /**
     * Reads a library of 32 or 64 bits.
     *
     * @throws KilnException with the offset of what is wrong in its tables or its blob
     */
    public static SharedLibrary read(Path file, ModuleLoaders loaders) {
        return read(ElfFile.read(file), String.valueOf(file.getFileName()), loaders);
    }

    /**
     * The modules of an ELF file.
     *
     * @param name the file's name, for messages
     */
    public static SharedLibrary read(ElfFile file, String name, ModuleLoaders loaders) {
        List<String> functions = file.exportedFunctions(START_AND_END);
        // A library's own prefix comes before the name.
        return file.exportedEndingIn(ModuleBlob.SYMBOL)
                .map(symbol -> {
                    Bytes blob = blob(file, symbol, name);
                    String where = name + ": " + symbol.name();
                    return ArtifactGroups.find(blob, where)
                            .map(artifacts -> new SharedLibrary(
                                    ModuleTree.ofLibrary(functions), functions, artifacts, blob.size()))
                            .orElseGet(() -> new SharedLibrary(
                                    ModuleBlob.read(blob, functions, loaders, where), functions, NONE, blob.size()));
                })
                .orElseGet(() -> new SharedLibrary(ModuleTree.ofLibrary(functions), functions, NONE, 0));
    }

    /** The blob, whose size it states itself: the symbol's size may be missing. */
    private static Bytes blob(ElfFile file, ElfFile.Symbol symbol, String name) {
        long length = file.at(symbol.value(), COUNT_BYTES)
                .map(count -> count.order(ByteOrder.LITTLE_ENDIAN).getLong())
                .orElse(-1L);
        ByteBuffer content = file.at(symbol.value(), length < 0 ? -1 : length + COUNT_BYTES)
                .orElseThrow(() -> Failure.ARCHIVE.exception(
                        "`" + symbol.name() + "` at address 0x" + Long.toHexString(symbol.value())
                                + " does not lie in the file",
                        name,
                        "a section that holds all of it",
                        "Export the library again"));
        byte[] bytes = new byte[content.remaining()];
        content.get(bytes);
        return Bytes.wrap(bytes);
    }

    /**
     * Artifacts instead of modules in {@code __tvm_dev_mblob}: the entry {@code _lib} for the native ones, which are linked; then for each loader and
     * code generator an entry whose key is the loader, with u64 number of artifacts and the strings codegen id, file name, target key and content of
     * each, at most 1024 in all. There is no import tree, and target strings are not kept. TVM's own loader does not know these keys.
     */
    public static final class ArtifactGroups {
        private static final String LIBRARY = "_lib";

        /** The most artifacts of a blob; each takes some hundred bytes of memory. */
        private static final int MOST_ARTIFACTS = 1024;

        private ArtifactGroups() {}

        /** Writes a set as a blob; its native artifacts are left out, because they are linked into the library. */
        public static Bytes write(ArtifactSet set) {
            Map<String, Map<String, List<Artifact>>> groups = set.artifacts().stream()
                    .filter(artifact -> !artifact.kind().isNative())
                    .collect(Collectors.groupingBy(
                            Artifact::loader,
                            TreeMap::new,
                            Collectors.groupingBy(Artifact::codegenId, TreeMap::new, Collectors.toList())));
            if (set.artifacts().size() > MOST_ARTIFACTS) {
                throw Failure.ARCHIVE.exception(
                        "there are more than " + MOST_ARTIFACTS + " artifacts", "artifacts of a library");
            }
            ModuleWriter out = new ModuleWriter();
            out.u64(1L + groups.values().stream().mapToInt(Map::size).sum()).string(LIBRARY);
            groups.forEach((loader, byGenerator) -> byGenerator.values().forEach(group -> {
                out.string(loader).u64(group.size());
                group.forEach(artifact -> out.string(artifact.codegenId())
                        .string(artifact.fileName())
                        .string(artifact.targetKey())
                        .string(artifact.content()));
            }));
            Bytes stream = out.bytes();
            return new ModuleWriter().u64(stream.size()).raw(stream).bytes();
        }

        /**
         * The artifacts of a blob; empty if it holds a tree of modules. The two cannot be confused: a tree's last entry has a row that begins with 0,
         * which would be an artifact without a name.
         */
        static Optional<ArtifactSet> find(Bytes blob, String name) {
            try {
                return Optional.of(read(blob, name));
            } catch (KilnException e) {
                return Optional.empty();
            }
        }

        /**
         * Reads what {@link #write} wrote; the targets' strings are empty.
         *
         * @throws KilnException with the offset of what is wrong
         */
        public static ArtifactSet read(Bytes blob, String name) {
            ModuleReader in = new ModuleReader(blob, name);
            long length = in.u64("the number of bytes");
            if (length != in.remaining()) {
                throw in.broken("it states " + Long.toUnsignedString(length) + " bytes", 0);
            }
            int entries = in.count(8, "the number of entries");
            List<Artifact> artifacts = new ArrayList<>();
            TreeMap<String, String> targets = new TreeMap<>();
            for (int i = 0; i < entries; i++) {
                int at = in.position();
                String loader = in.text("a type key");
                if (i == 0 != loader.equals(LIBRARY)) {
                    throw in.broken("entry " + i + " is `" + loader + "`", at);
                }
                for (int count = i == 0 ? 0 : in.count(32, "the number of artifacts"); count > 0; count--) {
                    Artifact artifact = artifact(in, loader);
                    artifacts.add(artifact);
                    if (artifacts.size() > MOST_ARTIFACTS) {
                        throw in.broken("there are more than " + MOST_ARTIFACTS + " artifacts", in.position());
                    }
                    targets.put(artifact.targetKey(), "");
                }
            }
            if (in.remaining() > 0) {
                throw in.broken(in.remaining() + " bytes follow the last entry", in.position());
            }
            return new ArtifactSet(artifacts, targets);
        }

        private static Artifact artifact(ModuleReader in, String loader) {
            int at = in.position();
            String codegen = in.text("a code generator");
            String file = in.text("a file name");
            String key = in.text("a target key");
            Bytes content = in.string("a content");
            try {
                return new Artifact(codegen, loader, file, content, key);
            } catch (KilnException e) {
                throw in.broken(e.problems().get(0).what(), at);
            }
        }
    }
}
