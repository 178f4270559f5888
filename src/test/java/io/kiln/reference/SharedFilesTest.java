// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.properties.HasAnnotations;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.Annotation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.commons.annotation.Testable;

/** Tests that read the shared folder say so, and no others do: whatever way their calls take to it. */
class SharedFilesTest {
    private static final String ASKED = SharedFolder.class.getName() + ".need(" + String.class.getName() + ")";
    private static final String LOOKED_FOR = SharedFolder.class.getName() + ".find(" + String.class.getName() + ")";
    private static final Pattern OWN_WAY = Pattern.compile("\\.\\./shared|\"\\.\\.\", *\"shared\"");
    private static final List<Class<? extends Annotation>> AROUND =
            List.of(BeforeAll.class, BeforeEach.class, AfterEach.class, AfterAll.class);

    /** What is to be found; nobody runs it. */
    static final class Undeclared {
        @SuppressWarnings("UnnecessaryLambda") // A reader in a lambda is to be found, too.
        private static final Supplier<Path> LATER = () -> SharedFolder.need("golden");

        private final Path before = SharedFolder.need("golden");

        static Stream<Path> models() {
            return Stream.of(SharedFolder.need("golden"));
        }

        @BeforeEach
        void prepare() {
            assertThat(LATER.get()).isEqualTo(before);
        }

        @Test
        void asksWhereAnExceptionIsExpected() {
            assertThatThrownBy(() -> SharedFolder.need("golden")).isNotNull();
        }

        @Test
        void asksThroughOthers() {
            assertThat(GoldenModels.cases("hello_world_int8")).isEmpty();
        }

        @ParameterizedTest
        @MethodSource("models")
        void asksForItsRows(Path model) {
            assertThat(model).exists();
        }

        @Test
        @NeedsShared("golden")
        void asksForNothing() {
            assertThat(SharedFolder.ROOT).isNotNull();
        }
    }

    /** Of these, one test is to be found that lacks the tag. */
    static final class Untagged {
        @Test
        void looksForMore() {
            assertThat(SharedFolder.find("golden")).isNotNull();
        }

        @Test
        @Tag(SharedFolder.TAG)
        void saysThatItLooks() {
            assertThat(SharedFolder.find("golden")).isNotNull();
        }

        @Test
        void looksForNothing() {
            assertThat(SharedFolder.ROOT).isNotNull();
        }
    }

    private static Map<String, Set<JavaCodeUnit>> callers(Collection<JavaClass> classes) {
        Map<String, Set<JavaCodeUnit>> callers = new HashMap<>();
        for (JavaClass each : classes) {
            each.getAccessesFromSelf().forEach(access -> add(callers, name(access), access.getOrigin()));
            each.getMethods().stream()
                    .filter(method -> method.isAnnotatedWith(MethodSource.class))
                    .forEach(method -> Arrays.stream(method.getAnnotationOfType(MethodSource.class)
                                    .value())
                            .forEach(source -> add(callers, each.getName() + "." + source + "()", method)));
        }
        return callers;
    }

    private static Set<String> problems(Collection<JavaClass> classes) {
        Map<String, Set<JavaCodeUnit>> callers = callers(classes);
        Set<JavaCodeUnit> readers = readers(callers, ASKED);
        Set<String> problems = new HashSet<>();
        for (JavaCodeUnit reader : readers) {
            boolean isTest = isTest(reader);
            boolean isOfClass = isAround(reader);
            if ((isTest && !isDeclared(reader) && !isDeclared(reader.getOwner()))
                    || (isOfClass && isTestClass(reader.getOwner()) && !isDeclared(reader.getOwner()))) {
                problems.add(reader.getFullName() + " reads the shared folder without @NeedsShared");
            }
        }
        for (JavaClass each : classes) {
            boolean isIdle = isDeclared(each)
                    && readers.stream().noneMatch(reader -> reader.getOwner().equals(each));
            if (isIdle) {
                problems.add(each.getName() + " has @NeedsShared and does not read the shared folder");
            }
            each.getMethods().stream()
                    .filter(method -> isDeclared(method) && (!readers.contains(method) || !isTest(method)))
                    .forEach(method -> problems.add(
                            method.getFullName() + " has @NeedsShared and is no test that reads the shared folder"));
        }
        return problems;
    }

    private static void add(Map<String, Set<JavaCodeUnit>> callers, String target, JavaCodeUnit caller) {
        callers.computeIfAbsent(target, key -> new HashSet<>()).add(caller);
    }

    /** A field is as good as the code that gives it its value. */
    private static String name(JavaAccess<?> access) {
        AccessTarget target = access.getTarget();
        return target instanceof AccessTarget.FieldAccessTarget
                ? target.getOwner().getName() + ".<clinit>()"
                : target.resolveMember().map(JavaMember::getFullName).orElse(target.getFullName());
    }

    /** Tests that look for a folder, which need not be there, and that the run without the folder leaves out: they have no tag. */
    private static Set<String> untagged(Collection<JavaClass> classes) {
        Set<JavaCodeUnit> readers = readers(callers(classes), LOOKED_FOR);
        Set<String> untagged = new HashSet<>();
        for (JavaClass each : classes) {
            boolean isRead = readers.stream()
                    .anyMatch(reader -> isAround(reader) && reader.getOwner().equals(each));
            each.getMethods().stream()
                    .filter(method -> isTest(method) && (isRead || readers.contains(method)))
                    .filter(method -> !isTagged(method) && !isTagged(each))
                    .forEach(method -> untagged.add(method.getFullName()));
        }
        return untagged;
    }

    private static boolean isTagged(HasAnnotations<?> place) {
        return place.isAnnotatedWith(NeedsShared.class)
                || place.tryGetAnnotationOfType(Tag.class)
                        .filter(tag -> tag.value().equals(SharedFolder.TAG))
                        .isPresent();
    }

    /** Methods and constructors from which calls lead to the question for a folder. */
    private static Set<JavaCodeUnit> readers(Map<String, Set<JavaCodeUnit>> callers, String question) {
        Set<JavaCodeUnit> readers = new HashSet<>();
        Deque<String> asked = new ArrayDeque<>(List.of(question));
        while (!asked.isEmpty()) {
            for (JavaCodeUnit caller : callers.getOrDefault(asked.remove(), Set.of())) {
                if (readers.add(caller)) {
                    asked.add(caller.getFullName());
                }
            }
        }
        return readers;
    }

    private static boolean isTest(JavaCodeUnit unit) {
        return unit.isMetaAnnotatedWith(Testable.class);
    }

    /** Runs before or after the tests of its class. */
    private static boolean isAround(JavaCodeUnit unit) {
        return unit.isConstructor()
                || unit.getName().equals("<clinit>")
                || AROUND.stream().anyMatch(unit::isAnnotatedWith);
    }

    private static boolean isTestClass(JavaClass owner) {
        return owner.getMethods().stream().anyMatch(SharedFilesTest::isTest);
    }

    private static boolean isDeclared(JavaCodeUnit unit) {
        return unit.isAnnotatedWith(NeedsShared.class);
    }

    private static boolean isDeclared(JavaClass owner) {
        return owner.isAnnotatedWith(NeedsShared.class);
    }

    @Test
    void whoeverReadsTheSharedFolderSaysSo() {
        JavaClasses classes = new ClassFileImporter()
                .withImportOption(new ImportOption.OnlyIncludeTests())
                .importPackages("io.kiln");
        List<Class<?>> made = List.of(Undeclared.class, Untagged.class, SharedFolderTest.class);
        List<JavaClass> others = classes.stream()
                .filter(each -> made.stream().noneMatch(each::isEquivalentTo))
                .toList();
        assertThat(others).hasSizeGreaterThan(500);
        assertThat(problems(others)).isEmpty();
        assertThat(untagged(others)).isEmpty();
    }

    @Test
    void whoeverDoesNotIsFound() {
        JavaClasses classes =
                new ClassFileImporter().importClasses(Undeclared.class, GoldenModels.class, SharedFolder.class);
        assertThat(problems(classes.stream().toList()))
                .allSatisfy(problem -> assertThat(problem).startsWith(Undeclared.class.getName()))
                .hasSize(7);
        assertThat(untagged(new ClassFileImporter()
                        .importClasses(Untagged.class, SharedFolder.class).stream()
                                .toList()))
                .containsExactly(Untagged.class.getName() + ".looksForMore()");
    }

    /** There is one place that knows where the folder lies. */
    @Test
    void nobodyElseNamesTheFolder() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("src"))) {
            assertThat(files.filter(Files::isRegularFile)
                            .filter(file -> file.toString().matches(".*\\.(java|groovy|xml|properties|sh|md)"))
                            .filter(file ->
                                    !file.endsWith("SharedFolder.java") && !file.endsWith("SharedFilesTest.java"))
                            .filter(SharedFilesTest::namesTheFolder))
                    .isEmpty();
        }
        assertThat(namesTheFolder(Path.of("pom.xml"))).isFalse();
        assertThat(namesTheFolder(Path.of("src/test/java/io/kiln/reference/SharedFolder.java")))
                .isTrue();
    }

    private static boolean namesTheFolder(Path file) {
        try {
            return OWN_WAY.matcher(Files.readString(file)).find();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
