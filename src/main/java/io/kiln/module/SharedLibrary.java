// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.artifact.ArtifactSet;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.LazyList;
import io.kiln.base.elf.ElfFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

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
}
