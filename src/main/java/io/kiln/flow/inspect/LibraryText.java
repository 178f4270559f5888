// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.module.ModuleLoaders;
import io.kiln.module.ModuleNode;
import io.kiln.module.ModuleWriter;
import io.kiln.module.SharedLibrary;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Shows a shared library with modules, and writes what the modules hold as files. Nothing of the library is run. */
final class LibraryText {
    private static final int MOST_NAMES = 40;
    private static final int MOST_INDENT = 20;

    private final SharedLibrary library;
    private final List<String> lines = new ArrayList<>();
    private final Set<Integer> shown = new HashSet<>();

    /** A module that is still to be shown. */
    private record Place(int index, int depth) {}

    private LibraryText(SharedLibrary library) {
        this.library = library;
    }

    /**
     * Describes a library.
     *
     * @param folder where the files of modules are written, below a folder of the library's name
     */
    static List<String> lines(Path file, ElfFile elf, Path folder) {
        LibraryText text =
                new LibraryText(SharedLibrary.read(elf, String.valueOf(file.getFileName()), ModuleLoaders.installed()));
        text.describe(file);
        text.extract(folder.resolve(String.valueOf(file.getFileName())));
        return List.copyOf(text.lines);
    }

    private void describe(Path file) {
        int count = library.tree().modules().size();
        lines.add("Library " + file + ": " + count + (count == 1 ? " module" : " modules")
                + (library.blobBytes() == 0 ? "" : ", " + library.blobBytes() + " bytes of __tvm_dev_mblob"));
        show();
        if (library.artifacts().artifacts().isEmpty()) {
            lines.add("  no artifacts (kiln.export.artifacts adds them)");
        }
        library.artifacts()
                .artifacts()
                .forEach(artifact -> lines.add("  artifact " + artifact.fileName() + " of code generator "
                        + artifact.codegenId() + " for loader " + artifact.loader() + ", target "
                        + artifact.targetKey() + ": " + artifact.content().size() + " bytes"));
    }

    /** Shows modules in the order of imports; one that several others import comes once. */
    private void show() {
        Deque<Place> todo = new ArrayDeque<>(List.of(new Place(0, 1)));
        while (!todo.isEmpty()) {
            Place place = todo.pop();
            ModuleNode module = library.tree().modules().get(place.index());
            String indent = "  ".repeat(Math.min(MOST_INDENT, place.depth()));
            if (!shown.add(place.index())) {
                lines.add(indent + place.index() + " " + module.typeKey() + ", as above");
                continue;
            }
            show(place.index(), module, indent);
            List<Integer> imports = module.imports();
            for (int i = imports.size() - 1; i >= 0; i--) {
                todo.push(new Place(imports.get(i), place.depth() + 1));
            }
        }
    }

    private void show(int index, ModuleNode module, String indent) {
        ModuleWriter payload = new ModuleWriter();
        module.payload().write(payload);
        lines.add(indent + index + " " + module.typeKey()
                + (module.payload().isLinked() ? "" : ", " + payload.bytes().size() + " bytes"));
        List<String> functions = module.payload().functions();
        if (!functions.isEmpty()) {
            lines.add(indent + "  functions: "
                    + String.join(", ", functions.subList(0, Math.min(MOST_NAMES, functions.size())))
                    + (functions.size() > MOST_NAMES ? " and " + (functions.size() - MOST_NAMES) + " more" : ""));
        }
        module.payload().details().forEach(detail -> lines.add(indent + "  " + detail));
    }

    private void extract(Path folder) {
        for (int i = 0; i < library.tree().modules().size(); i++) {
            ModuleNode module = library.tree().modules().get(i);
            String prefix = i + "-" + module.typeKey().replaceAll("[^A-Za-z0-9_]", "_") + "-";
            module.payload().files().forEach((name, content) -> {
                Path file = folder.resolve(prefix + name);
                WholeFiles.write(file, content.toArray());
                lines.add(content.size() + " bytes: " + file);
            });
        }
    }
}
