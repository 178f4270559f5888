// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.LazyList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The modules of a shared library in the order of its blob; the first one is the root. A module that several others import occurs once.
 *
 * @param modules 1 to 1024; at most one is linked code; each imports only modules behind it, in ascending order
 * @param hasImportTree whether the blob states who imports whom; otherwise the first module is the library, which imports all others
 */
public record ModuleTree(List<ModuleNode> modules, boolean hasImportTree) {
    /** Far more than compilers make. Each takes some hundred bytes while a file is read. */
    static final int MOST_MODULES = 1024;

    /**
     * Checks the tree.
     *
     * @throws KilnException if there are two libraries, or imports that would be a cycle, dangle or are not sorted
     */
    public ModuleTree {
        modules = List.copyOf(modules);
        if (modules.isEmpty()) {
            throw wrong("there is no module");
        }
        if (modules.stream().filter(m -> m.payload().isLinked()).count() > 1) {
            throw wrong("Multiple dso module detected, please upgrade tvm to the latest before exporting the module");
        }
        if (modules.size() > MOST_MODULES) {
            throw wrong("there are " + modules.size() + " modules, more than " + MOST_MODULES);
        }
        for (int i = 0; i < modules.size(); i++) {
            int last = i;
            List<Integer> imports = modules.get(i).imports();
            for (int j = 0; j < imports.size(); j++) {
                int child = imports.get(j);
                if (child <= last || child >= modules.size()) {
                    throw wrong("module " + i + " (" + modules.get(i).typeKey() + ") imports module " + child
                            + ": imports are sorted, lie behind the module, and are fewer than " + modules.size());
                }
                last = child;
            }
        }
        if (!hasImportTree
                && !(modules.get(0).payload().isLinked()
                        && modules.get(0)
                                .imports()
                                .equals(IntStream.range(1, modules.size())
                                        .boxed()
                                        .toList()))) {
            throw wrong("only a library that imports all others needs no import tree");
        }
    }

    /** A library without imports, which needs no blob. */
    public static ModuleTree ofLibrary(List<String> functions) {
        return new ModuleTree(List.of(new ModuleNode(LinkedCode.LIBRARY, new LinkedCode(functions), List.of())), false);
    }

    public ModuleNode root() {
        return modules.get(0);
    }

    private static KilnException wrong(String what) {
        return Failure.ARCHIVE.exception(what, "module tree");
    }

    /**
     * A module with the modules that it imports.
     *
     * @param typeKey kind of module, such as {@code llvm}, {@code cuda} or {@code const_loader}
     * @param payload its content
     * @param imports indices of other modules in the list that holds this one, in order
     */
    public record ModuleNode(String typeKey, ModulePayload payload, List<Integer> imports) {
        public ModuleNode {
            imports = LazyList.copyOf(imports);
        }

        public ModuleNode importing(List<Integer> others) {
            return new ModuleNode(typeKey, payload, others);
        }
    }

    /**
     * Code that is part of the shared library itself: a module of key {@code c}, {@code llvm} or {@code static_library} before export, {@code library}
     * after loading. Its entry in the blob, {@code _lib}, has no payload.
     *
     * @param functions names of its functions; empty if they are not known
     */
    public record LinkedCode(List<String> functions) implements ModulePayload {
        /** The type key of a loaded library. */
        public static final String LIBRARY = "library";

        public LinkedCode {
            functions = LazyList.copyOf(functions);
        }

        @Override
        public void write(ModuleWriter out) {
            // The library carries the code.
        }

        @Override
        public boolean isLinked() {
            return true;
        }
    }
}
