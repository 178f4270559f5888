// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.module.ModuleTree.LinkedCode;
import io.kiln.module.ModuleTree.ModuleNode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/**
 * Puts modules that import each other into the order of a blob. All linked code becomes one module (ModuleSerializer of src/target/codegen.cc):
 * first come the modules that the root reaches without passing linked code, depth first, then the linked code, then what only that reaches.
 */
public final class ModuleExport {
    private final List<ModuleNode> graph;
    private final int[] indices;
    private final List<List<Integer>> groups = new ArrayList<>();
    private final Deque<Integer> stack = new ArrayDeque<>();
    private final boolean[] visited;

    private ModuleExport(List<ModuleNode> graph) {
        this.graph = graph;
        this.indices = new int[graph.size()];
        this.visited = new boolean[graph.size()];
        Arrays.fill(indices, -1);
    }

    /**
     * The tree of a library.
     *
     * @param graph the modules; the first one is the root, imports are indices in any order
     * @throws KilnException if merging linked code would make a cycle
     */
    public static ModuleTree tree(List<ModuleNode> graph) {
        return new ModuleExport(graph).export();
    }

    private ModuleTree export() {
        number();
        List<ModuleNode> modules = new ArrayList<>();
        for (int i = 0; i < groups.size(); i++) {
            List<Integer> group = groups.get(i);
            TreeSet<Integer> children = new TreeSet<>();
            for (int member : group) {
                graph.get(member).imports().forEach(child -> children.add(indices[child]));
            }
            children.remove(i);
            if (!children.isEmpty() && children.first() < i) {
                throw cycle(group, groups.get(children.first()));
            }
            modules.add(merged(group).importing(List.copyOf(children)));
        }
        ModuleNode root = graph.get(0);
        return new ModuleTree(
                modules, !(root.payload().isLinked() && root.imports().isEmpty()));
    }

    private void number() {
        push(0);
        Deque<Integer> linked = new ArrayDeque<>();
        while (!stack.isEmpty()) {
            int module = stack.pop();
            if (graph.get(module).payload().isLinked()) {
                linked.push(module);
            } else {
                next(module);
                graph.get(module).imports().forEach(this::push);
            }
        }
        if (linked.isEmpty()) {
            return;
        }
        int library = groups.size();
        groups.add(new ArrayList<>());
        stack.addAll(linked);
        while (!stack.isEmpty()) {
            int module = stack.pop();
            if (graph.get(module).payload().isLinked()) {
                indices[module] = library;
                groups.get(library).add(module);
            } else {
                next(module);
            }
            graph.get(module).imports().forEach(this::push);
        }
    }

    private void next(int module) {
        indices[module] = groups.size();
        groups.add(List.of(module));
    }

    private void push(int module) {
        if (!visited[module]) {
            visited[module] = true;
            stack.push(module);
        }
    }

    private ModuleNode merged(List<Integer> group) {
        ModuleNode first = graph.get(group.get(0));
        if (!first.payload().isLinked()) {
            return first;
        }
        List<String> functions = group.stream()
                .flatMap(member -> graph.get(member).payload().functions().stream())
                .distinct()
                .sorted()
                .toList();
        return new ModuleNode(LinkedCode.LIBRARY, new LinkedCode(functions), List.of());
    }

    private KilnException cycle(List<Integer> parent, List<Integer> child) {
        return Failure.ARCHIVE.exception(
                "Cannot export due to multiple dso-exportables that cannot be merged without creating a cycle in the"
                        + " import tree. Related module keys: parent="
                        + graph.get(parent.get(0)).typeKey() + ", child="
                        + graph.get(child.get(0)).typeKey(),
                "module tree");
    }

    /** The blob of a tree as C text, as TVM's {@code devc.c}: one array of 20 bytes a line. */
    public static final class BlobSource {
        /** The usual name of the file. */
        public static final String FILE = "devc.c";

        private static final int BYTES_A_LINE = 20;

        private BlobSource() {}

        /** Prints a blob that {@link ModuleBlob#write} made. */
        public static String of(Bytes blob) {
            StringBuilder text = new StringBuilder("""
                #ifdef _WIN32
                #define TVM_EXPORT __declspec(dllexport)
                #else
                #define TVM_EXPORT
                #endif
                #ifdef __cplusplus
                extern "C" {
                #endif
                """);
            text.append("TVM_EXPORT extern const unsigned char ")
                    .append(ModuleBlob.SYMBOL)
                    .append("[];\n");
            text.append("const unsigned char ")
                    .append(ModuleBlob.SYMBOL)
                    .append('[')
                    .append(blob.size())
                    .append("] = {");
            for (int i = 0; i < blob.size(); i++) {
                text.append(i % BYTES_A_LINE == 0 ? "\n  " : "");
                text.append(String.format(Locale.ROOT, "0x%02x,", blob.get(i) & 0xFF));
            }
            return text.append("\n};\n#ifdef __cplusplus\n}\n#endif\n").toString();
        }
    }
}
