// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.kiln.maven.group.Element;
import io.kiln.maven.group.ParameterGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.junit.jupiter.api.Test;

/** A goal takes the parameters that it reads: whoever looks up a goal is told nothing that does not matter to it. */
final class GoalParametersTest {
    private static final String GROUPS = "io.kiln.maven.group";
    private static final Path PAGE = Path.of("src", "site", "markdown", "goals.md");
    private static final Path DESCRIPTOR = Path.of("target", "classes", "META-INF", "maven", "plugin.xml");
    /** Goals that build nothing. */
    private static final Set<String> SMALL = Set.of(
            "boards",
            "doctor",
            "monitor",
            "new-board",
            "farm",
            "worker",
            "inspect",
            "diff",
            "help",
            "mlperf",
            "project-api",
            "devices");

    private static final List<JavaClass> CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages("io.kiln.maven").stream()
                    .toList();
    private static final List<JavaClass> GOALS =
            CLASSES.stream().filter(type -> type.isAnnotatedWith(Mojo.class)).toList();

    @Test
    void everyParameterOfAGoalIsReadByIt() {
        assertThat(GOALS).hasSizeGreaterThan(30);
        Map<String, List<String>> unread = new TreeMap<>();
        for (JavaClass goal : GOALS) {
            Set<JavaField> read = read(goal);
            List<String> names = Stream.concat(parameters(goal).stream(), elements(goal))
                    .filter(field -> !read.contains(field))
                    .map(JavaField::getName)
                    .toList();
            if (!names.isEmpty()) {
                unread.put(goal.getSimpleName(), names);
            }
        }
        assertThat(unread).isEmpty();
    }

    @Test
    void goalsThatBuildNothingHaveADozenParametersAtMost() {
        Map<String, Integer> counts = new TreeMap<>();
        GOALS.forEach(goal -> counts.put(
                goal.getAnnotationOfType(Mojo.class).name(), parameters(goal).size()));
        assertThat(counts).containsKeys(SMALL.toArray(String[]::new));
        assertThat(counts).allSatisfy((goal, count) -> {
            if (SMALL.contains(goal)) {
                assertThat(count).isLessThanOrEqualTo(12);
            }
        });
    }

    /** Maven reads it in every build that names the plugin. */
    @Test
    void theDescriptorIsSmall() throws IOException {
        assertThat(Files.size(DESCRIPTOR)).isBetween(100_000L, 500_000L);
    }

    @Test
    void thePageOfGoalsHasEveryElementOfAGroup() throws IOException {
        String page = Files.readString(PAGE);
        assertThat(ParameterGroup.all())
                .isNotEmpty()
                .allSatisfy(group -> assertThat(group.elements())
                        .allSatisfy(element -> assertThat(page).contains("`" + group.property(element) + "`")));
    }

    /** Those that a user sets; the others are Maven's own values. */
    private static List<JavaField> parameters(JavaClass goal) {
        return goal.getAllFields().stream()
                .filter(field -> field.isAnnotatedWith(Parameter.class)
                        && !field.getAnnotationOfType(Parameter.class).readonly())
                .sorted(Comparator.comparing(JavaField::getFullName))
                .toList();
    }

    /** The elements of a goal's groups: constants of the classes in which these groups are. */
    private static Stream<JavaField> elements(JavaClass goal) {
        Set<String> names = new HashSet<>();
        parameters(goal).stream().map(JavaField::getName).forEach(names::add);
        return CLASSES.stream()
                .filter(type -> type.getPackageName().equals(GROUPS))
                .flatMap(type -> type.getFields().stream())
                .filter(field -> field.getRawType().isEquivalentTo(Element.class)
                        && field.getModifiers().contains(JavaModifier.STATIC))
                .filter(field -> ParameterGroup.all().stream()
                        .anyMatch(group ->
                                names.contains(group.name()) && isOf(group, field.getOwner(), field.getName())));
    }

    /** Constants are named like elements: {@code KEEP_FLOAT} is {@code keepFloat}. */
    private static boolean isOf(ParameterGroup group, JavaClass owner, String constant) {
        String name = constant.replace("_", "");
        return group.elements().stream().anyMatch(element -> element.name().equalsIgnoreCase(name))
                && owner.getFields().stream()
                        .anyMatch(field -> field.getName().equals("GROUP")
                                || field.getName().equalsIgnoreCase(group.name()));
    }

    /** The fields that are read when Maven runs a goal, by the methods of this package that it calls. */
    private static Set<JavaField> read(JavaClass goal) {
        Set<JavaField> fields = new HashSet<>();
        Set<JavaCodeUnit> known = new HashSet<>();
        Deque<JavaCodeUnit> left = new ArrayDeque<>();
        goal.getAllMethods().stream()
                .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
                .forEach(left::add);
        while (!left.isEmpty()) {
            JavaCodeUnit code = left.pop();
            if (known.add(code)) {
                code.getFieldAccesses()
                        .forEach(access -> access.getTarget().resolveMember().ifPresent(fields::add));
                Stream.concat(code.getCallsFromSelf().stream(), code.getCodeUnitReferencesFromSelf().stream())
                        .forEach(access -> called(goal, access.getTarget()).ifPresent(left::add));
            }
        }
        return fields;
    }

    /** What a call means in a goal: of its own methods that of the most special class. */
    private static Optional<? extends JavaCodeUnit> called(JavaClass goal, CodeUnitAccessTarget target) {
        String[] types =
                target.getRawParameterTypes().stream().map(JavaClass::getName).toArray(String[]::new);
        Optional<JavaClass> type = Optional.of(goal);
        while (type.isPresent()) {
            Optional<? extends JavaCodeUnit> found = type.get().tryGetMethod(target.getName(), types);
            if (found.isPresent()) {
                return found;
            }
            type = type.get().getRawSuperclass();
        }
        return target.getOwner().getPackageName().startsWith("io.kiln.maven")
                ? target.resolveMember()
                : Optional.empty();
    }
}
