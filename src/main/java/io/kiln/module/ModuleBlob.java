// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import io.kiln.base.Extensions;
import io.kiln.base.KilnException;
import io.kiln.module.ModuleReader.NumbersInBlob;
import io.kiln.module.ModuleTree.LinkedCode;
import io.kiln.module.ModuleTree.ModuleNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The blob {@code __tvm_dev_mblob} (src/target/codegen.cc, src/runtime/library_module.cc): u64 number of bytes that follow; u64 number of entries;
 * for each entry the string of its type key, and a payload whose length only the key's loader knows. The entry {@code _lib} stands for the library
 * itself. The last entry, {@code _import_tree}, is not a module: who imports whom in compressed sparse rows.
 */
public final class ModuleBlob {
    public static final String SYMBOL = "__tvm_dev_mblob";

    private static final String LIBRARY = "_lib";
    private static final String IMPORT_TREE = "_import_tree";

    private ModuleBlob() {}

    public static Bytes write(ModuleTree tree) {
        Bytes stream = stream(tree);
        return new ModuleWriter().u64(stream.size()).raw(stream).bytes();
    }

    /** Writes a tree as a blob without the number of its bytes at the beginning, as TVM writes it to a stream. */
    public static Bytes stream(ModuleTree tree) {
        ModuleWriter out = new ModuleWriter();
        int modules = tree.modules().size();
        out.u64(tree.hasImportTree() ? modules + 1 : modules - 1);
        for (ModuleNode module : tree.modules()) {
            if (!module.payload().isLinked()) {
                out.string(module.typeKey());
                module.payload().write(out);
            } else if (tree.hasImportTree()) {
                out.string(LIBRARY);
            }
        }
        if (tree.hasImportTree()) {
            List<Integer> rows = new ArrayList<>(List.of(0));
            List<Integer> children = new ArrayList<>();
            tree.modules().forEach(module -> {
                children.addAll(module.imports());
                rows.add(children.size());
            });
            out.string(IMPORT_TREE).numbers(rows).numbers(children);
        }
        return out.bytes();
    }

    /**
     * Reads a blob of a library.
     *
     * @param functions names of the library's functions
     * @param name the file's name, for messages
     * @throws KilnException with the offset of what is wrong
     */
    public static ModuleTree read(Bytes blob, List<String> functions, ModuleLoaders loaders, String name) {
        ModuleReader in = new ModuleReader(blob, name);
        long length = in.u64("the number of bytes");
        if (length != in.remaining()) {
            throw in.broken(
                    "it states " + Long.toUnsignedString(length) + " bytes, and " + in.remaining() + " follow", 0);
        }
        return new ModuleStream(in, loaders, new LinkedCode(functions)).read(true);
    }

    /**
     * Reads what {@link #stream} wrote of a tree without linked code.
     *
     * @param name the file's name, for messages
     * @throws KilnException with the offset of what is wrong
     */
    public static ModuleTree readStream(Bytes stream, ModuleLoaders loaders, String name) {
        return new ModuleStream(new ModuleReader(stream, name), loaders, new LinkedCode(List.of())).read(false);
    }

    /** Reads one blob: the input, and what is known before. */
    private record ModuleStream(ModuleReader in, ModuleLoaders loaders, LinkedCode library) {
        ModuleTree read(boolean isLibrary) {
            int entries = in.count(8, "the number of entries");
            if (entries > ModuleTree.MOST_MODULES + 1) {
                throw in.broken(
                        "the number of entries is " + entries + ", more than " + (ModuleTree.MOST_MODULES + 1),
                        in.position() - Long.BYTES);
            }
            List<ModuleNode> modules = new ArrayList<>(entries);
            boolean hasTree = false;
            int at = in.position();
            List<String> keys = new ArrayList<>(loaders.typeKeys());
            keys.addAll(List.of(LIBRARY, IMPORT_TREE));
            for (int i = 0; i < entries; i++) {
                at = in.position();
                String key = in.word(keys, "a type key");
                if (key.equals(IMPORT_TREE)) {
                    if (i != entries - 1) {
                        throw in.broken("`" + IMPORT_TREE + "` is not the last entry", at);
                    }
                    imports(modules, at);
                    hasTree = true;
                } else if (key.equals(LIBRARY)) {
                    if (!isLibrary) {
                        throw in.broken("`" + LIBRARY + "` stands in a stream that belongs to no library", at);
                    }
                    modules.add(new ModuleNode(LinkedCode.LIBRARY, library, List.of()));
                } else {
                    modules.add(new ModuleNode(key, payload(key, at), List.of()));
                }
            }
            if (in.remaining() > 0) {
                throw in.broken(in.remaining() + " bytes follow the last entry", in.position());
            }
            return tree(modules, hasTree, isLibrary, at);
        }

        private ModulePayload payload(String key, int at) {
            ModuleLoader loader = loaders.find(key)
                    .orElseThrow(() -> in.broken(
                            "Binary was created using {" + key
                                    + "} but a loader of that name is not registered. Available loaders are "
                                    + String.join(", ", loaders.typeKeys())
                                    + ". Perhaps you need to recompile with this runtime enabled",
                            at));
            return Extensions.call(
                    () -> loader.load(key, in),
                    why -> in.broken(
                            "the loader of `" + key + "`, " + Extensions.name(loader) + ", failed: " + why, at));
        }

        /** The tree of the modules read. Old libraries do not state it: there the library imports all modules. */
        private ModuleTree tree(List<ModuleNode> modules, boolean hasTree, boolean isLibrary, int at) {
            if (!hasTree) {
                if (!isLibrary || modules.stream().anyMatch(m -> m.payload().isLinked())) {
                    throw in.broken("there is no `" + IMPORT_TREE + "`", at);
                }
                List<Integer> all =
                        IntStream.rangeClosed(1, modules.size()).boxed().toList();
                modules.add(0, new ModuleNode(LinkedCode.LIBRARY, library, all));
            }
            try {
                return new ModuleTree(modules, hasTree);
            } catch (KilnException e) {
                throw in.broken(e.problems().get(0).what(), at);
            }
        }

        private void imports(List<ModuleNode> modules, int at) {
            NumbersInBlob rows = in.numbers("rows");
            NumbersInBlob children = in.numbers("imports");
            boolean fits = rows.size() == modules.size() + 1
                    && rows.at(0) == 0
                    && rows.at(modules.size()) == children.size()
                    && IntStream.range(0, modules.size()).allMatch(i -> rows.at(i) <= rows.at(i + 1))
                    // Imports that dangle are refused before modules get them.
                    && IntStream.range(0, children.size()).allMatch(i -> children.at(i) < modules.size());
            if (!fits) {
                throw in.broken(
                        "the rows of the import tree do not divide " + children.size() + " imports among "
                                + modules.size() + " modules, or imports dangle",
                        at);
            }
            for (int i = 0; i < modules.size(); i++) {
                if (rows.at(i) == rows.at(i + 1)) {
                    continue;
                }
                modules.set(i, modules.get(i).importing(children.part(rows.at(i), rows.at(i + 1))));
            }
        }
    }
}
