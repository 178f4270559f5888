// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.module.BuiltInModules.SourceModule;
import io.kiln.module.ModuleTree.LinkedCode;
import io.kiln.module.ModuleTree.ModuleNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Import trees of any shape: diamonds, chains, several modules of linked code, and what is no tree. */
class ImportRulesTest {
    private static final ModuleLoaders LOADERS = ModuleLoaders.installed();

    /** A library and two device modules, with an import tree. */
    private static Bytes blob(List<Integer> rows, List<Integer> imports) {
        ModuleWriter stream = new ModuleWriter().u64(4).string("_lib");
        for (int i = 0; i < 2; i++) {
            stream.string("cuda").string("ptx").u64(0).string("code");
        }
        Bytes bytes =
                stream.string("_import_tree").numbers(rows).numbers(imports).bytes();
        return new ModuleWriter().u64(bytes.size()).raw(bytes).bytes();
    }

    private static ModuleTree read(Bytes blob) {
        return ModuleBlob.read(blob, List.of(), LOADERS, "lib");
    }

    @Test
    void whatIsNoTreeIsRefusedWithItsOffset() {
        assertThat(read(blob(List.of(0, 2, 3, 3), List.of(1, 2, 2))).modules()).hasSize(3);
        Map<String, List<List<Integer>>> wrong = Map.ofEntries(
                Map.entry("a module imports itself", List.of(List.of(0, 1, 1, 1), List.of(0))),
                Map.entry("a cycle of two", List.of(List.of(0, 1, 2, 2), List.of(1, 0))),
                Map.entry("a cycle of three", List.of(List.of(0, 1, 2, 3), List.of(1, 2, 0))),
                Map.entry("an import behind the last module", List.of(List.of(0, 1, 1, 1), List.of(3))),
                Map.entry("an import far behind", List.of(List.of(0, 1, 1, 1), List.of(Integer.MAX_VALUE))),
                Map.entry("imports that are not sorted", List.of(List.of(0, 2, 2, 2), List.of(2, 1))),
                Map.entry("an import twice", List.of(List.of(0, 2, 2, 2), List.of(1, 1))),
                Map.entry("rows that descend", List.of(List.of(0, 2, 1, 2), List.of(1, 2))),
                Map.entry("rows that do not begin at 0", List.of(List.of(1, 2, 2, 2), List.of(1, 2))),
                Map.entry("rows that end too early", List.of(List.of(0, 1, 1, 1), List.of(1, 2))),
                Map.entry("rows that end too late", List.of(List.of(0, 1, 1, 3), List.of(1, 2))),
                Map.entry("too few rows", List.of(List.of(0, 1, 1), List.of(1))),
                Map.entry("too many rows", List.of(List.of(0, 1, 1, 1, 1), List.of(1))),
                Map.entry("no rows", List.of(List.of(), List.of())));
        wrong.forEach((what, tree) -> assertThatThrownBy(() -> read(blob(tree.get(0), tree.get(1))))
                .as(what)
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("lib, offset 0x"));
    }

    /** The order of a library's modules is TVM's, told once more; what it does not sort is refused. */
    @Test
    void randomGraphsBecomeTreesByTheRules() {
        Random random = new Random(5);
        int trees = 0;
        int refused = 0;
        for (int round = 0; round < 3000; round++) {
            List<ModuleNode> graph = graph(random);
            List<String> order = order(graph);
            Set<String> imports = imports(graph);
            boolean isSorted = imports.stream()
                    .map(edge -> edge.split(" > ", -1))
                    .allMatch(edge -> order.indexOf(edge[0]) < order.indexOf(edge[1]));
            if (isSorted) {
                ModuleTree tree = ModuleExport.tree(graph);
                assertThat(tree.modules().stream().map(ImportRulesTest::name)).containsExactlyElementsOf(order);
                assertThat(imports(tree.modules())).isEqualTo(imports);
                assertThat(ModuleBlob.read(ModuleBlob.write(tree), List.of(), LOADERS, "x"))
                        .isEqualTo(tree);
                trees++;
            } else {
                assertThatThrownBy(() -> ModuleExport.tree(graph))
                        .hasMessageContaining("cannot be merged without creating a cycle in the import tree");
                refused++;
            }
        }
        assertThat(List.of(trees, refused)).allMatch(count -> count > 300);
    }

    /** First what is reached without linked code, then the linked code, then what only that reaches; depth first, the last import first. */
    private static List<String> order(List<ModuleNode> graph) {
        List<Integer> seen = new ArrayList<>(List.of(0));
        List<Integer> linked = new ArrayList<>();
        List<String> order = new ArrayList<>();
        walk(graph, new ArrayList<>(List.of(0)), seen, Optional.of(linked), order);
        if (!linked.isEmpty()) {
            order.add("linked");
            walk(graph, linked, seen, Optional.empty(), order);
        }
        return order;
    }

    private static void walk(
            List<ModuleNode> graph,
            List<Integer> waiting,
            List<Integer> seen,
            Optional<List<Integer>> linked,
            List<String> order) {
        while (!waiting.isEmpty()) {
            int next = waiting.remove(waiting.size() - 1);
            boolean isLinked = graph.get(next).payload().isLinked();
            if (isLinked && linked.isPresent()) {
                linked.get().add(next);
                continue;
            }
            if (!isLinked) {
                order.add(name(graph.get(next)));
            }
            for (int child : graph.get(next).imports()) {
                if (!seen.contains(child)) {
                    seen.add(child);
                    waiting.add(child);
                }
            }
        }
    }

    /** Every module is reached from the first one; imports lead to later modules only. */
    private static List<ModuleNode> graph(Random random) {
        int count = 1 + random.nextInt(7);
        List<Set<Integer>> imports = new ArrayList<>();
        IntStream.range(0, count).forEach(i -> imports.add(new TreeSet<>()));
        for (int i = 1; i < count; i++) {
            imports.get(random.nextInt(i)).add(i);
            imports.get(random.nextInt(i)).add(i);
        }
        List<ModuleNode> graph = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            boolean isLinked = random.nextInt(3) == 0;
            ModulePayload payload = isLinked
                    ? new LinkedCode(List.of())
                    : new SourceModule(Bytes.ofText("module " + i), "cu", List.of(), List.of());
            graph.add(new ModuleNode(isLinked ? "llvm" : "c", payload, List.copyOf(imports.get(i))));
        }
        return graph;
    }

    private static String name(ModuleNode module) {
        return module.payload() instanceof SourceModule source ? source.code().text() : "linked";
    }

    /** Who imports whom, by name, without what linked code imports of itself. */
    private static Set<String> imports(List<ModuleNode> modules) {
        Set<String> imports = new TreeSet<>();
        for (ModuleNode module : modules) {
            for (int child : module.imports()) {
                imports.add(name(module) + " > " + name(modules.get(child)));
            }
        }
        imports.remove("linked > linked");
        return imports;
    }

    @Test
    void aChainAndADiamondOfAThousandModulesAreRead() {
        List<ModuleNode> chain = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            List<Integer> next = i + 1 < 1000 ? List.of(i + 1) : List.of();
            chain.add(new ModuleNode("c", new SourceModule(Bytes.ofText("" + i), "c", List.of(), List.of()), next));
        }
        ModuleTree deep = ModuleExport.tree(chain);
        assertThat(ModuleBlob.readStream(ModuleBlob.stream(deep), LOADERS, "chain"))
                .isEqualTo(deep);
        List<ModuleNode> diamond = new ArrayList<>(chain.subList(0, 1000));
        diamond.replaceAll(module -> module.importing(List.of(999)));
        diamond.set(0, chain.get(0).importing(IntStream.range(1, 999).boxed().toList()));
        diamond.set(999, chain.get(999).importing(List.of()));
        ModuleTree wide = new ModuleTree(diamond, true);
        assertThat(wide.root().imports()).hasSize(998);
        assertThat(ModuleBlob.readStream(ModuleBlob.stream(wide), LOADERS, "diamond"))
                .isEqualTo(wide);
    }

    /** What a damaged blob only claims to hold takes no memory. */
    @Test
    void numbersShareTheMemoryOfTheBlob() {
        Integer[] many = new Integer[200_000];
        Arrays.setAll(many, i -> 1_000_000 + i);
        Bytes blob = blob(Arrays.asList(many), List.of());
        assertThatThrownBy(() -> read(blob))
                .hasMessageContaining("the rows of the import tree do not divide 0 imports");
        long before = allocated();
        assertThatThrownBy(() -> read(blob)).isInstanceOf(KilnException.class);
        assertThat(allocated() - before).isLessThan(blob.size());
    }

    private static long allocated() {
        return ((com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean())
                .getCurrentThreadAllocatedBytes();
    }
}
