// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.codegen.c.UsedIntrinsics.PortableKernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code kiln.portable} undefines the macros by which kernels, their headers and their sheets, find out about a machine: all of them, and no others. */
class PortableMacrosTest {
    private static final Path KERNELS = Path.of("src", "main", "resources", "kernels");

    /** Where conditions of sheets are written that several share. */
    private static final Path JAVA = Path.of("src", "main", "java", "io", "kiln", "schedule");

    private static final Pattern CONDITION = Pattern.compile("^\\s*#\\s*(?:el)?if(n?def)?\\b(.*)", Pattern.MULTILINE);
    private static final Pattern STATED = Pattern.compile("\"([^\"]*\\bdefined\\(__[^\"]*)\"");
    private static final Pattern DEFINED = Pattern.compile("(?<!!)\\bdefined\\((__(?:ARM|arm|riscv|thumb)\\w*)\\)");
    private static final Pattern OF_MACHINES = Pattern.compile("__(?:ARM|arm|riscv|thumb)");

    private static List<String> conditions(Path folder, String suffix, Pattern pattern, int group) throws IOException {
        List<String> conditions = new ArrayList<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(f -> f.toString().endsWith(suffix)).toList()) {
                Matcher found = pattern.matcher(Files.readString(file));
                while (found.find()) {
                    conditions.add(found.group(group));
                }
            }
        }
        return conditions;
    }

    private static List<String> all() throws IOException {
        List<String> conditions = new ArrayList<>();
        conditions.addAll(conditions(KERNELS, ".h", CONDITION, 2));
        conditions.addAll(conditions(KERNELS, ".jte", CONDITION, 2));
        conditions.addAll(conditions(JAVA, ".java", STATED, 1));
        return conditions.stream()
                .filter(condition -> OF_MACHINES.matcher(condition).find())
                .toList();
    }

    @Test
    void theyAreThoseThatKernelsTest() throws IOException {
        Set<String> tested = new TreeSet<>();
        for (String condition : all()) {
            Matcher found = DEFINED.matcher(condition);
            while (found.find()) {
                tested.add(found.group(1));
            }
        }
        assertThat(tested).containsExactlyElementsOf(PortableKernels.MACROS);
    }

    /** Without the macros, a condition on anything else of a machine, such as its word size, must not count. */
    @Test
    void everyConditionOnAMachineAsksForOneOfThemFirst() throws IOException {
        assertThat(all()).hasSizeGreaterThan(50).allSatisfy(condition -> {
            Matcher found = DEFINED.matcher(condition);
            assertThat(found.find()).as(condition).isTrue();
            assertThat(PortableKernels.MACROS).contains(found.group(1));
            assertThat(condition.substring(0, found.start())).doesNotContainPattern(OF_MACHINES);
        });
    }

    @Test
    void headersOfKernelsTestThemToo() throws IOException {
        assertThat(conditions(KERNELS, ".h", CONDITION, 2).stream()
                        .filter(condition -> OF_MACHINES.matcher(condition).find()))
                .hasSizeGreaterThan(10);
    }

    @Test
    void eachIsUndefinedOnALineOfItsOwn() {
        assertThat(PortableKernels.directives().lines().filter(line -> line.startsWith("#")))
                .containsExactlyElementsOf(PortableKernels.MACROS.stream()
                        .map(macro -> "#undef " + macro)
                        .toList());
    }
}
