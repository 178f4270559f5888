// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What {@code io.kiln.api} and {@code io.kiln.spi} promise: few types, of which nothing else is reached, and signatures under review. */
@AnalyzeClasses(
        packages = {"io.kiln.api", "io.kiln.spi"},
        importOptions = ImportOption.DoNotIncludeTests.class)
class PromisedInterfaceTest {
    private static final Path LIST = Path.of("src/test/resources/io/kiln/api/signatures.txt");
    private static final int MOST_TYPES = 40;

    @ArchTest
    static void signaturesReachNothingElse(JavaClasses classes) {
        List<String> reached = new ArrayList<>();
        for (JavaClass type : promised(classes)) {
            type.getAllInvolvedRawTypes().forEach(each -> check(type.getName(), each, reached));
            Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream())
                    .forEach(each -> involved(type.getName(), each, reached));
            for (JavaCodeUnit unit : type.getCodeUnits()) {
                if (isVisible(unit.getModifiers())) {
                    involved(unit.getFullName(), unit.getReturnType(), reached);
                    unit.getParameterTypes().forEach(each -> involved(unit.getFullName(), each, reached));
                    unit.getThrowsClause().getTypes().forEach(each -> check(unit.getFullName(), each, reached));
                }
            }
            for (JavaField field : type.getFields()) {
                if (isVisible(field.getModifiers())) {
                    involved(field.getFullName(), field.getType(), reached);
                }
            }
        }
        assertThat(reached).isEmpty();
    }

    @ArchTest
    static void typesAreFew(JavaClasses classes) {
        assertThat(promised(classes)).hasSizeBetween(20, MOST_TYPES);
    }

    /** Extensions are called by the engine, and know nothing of it. */
    @ArchTest
    static void extensionsKnowNothingOfTheEngine(JavaClasses classes) {
        assertThat(classes.stream()
                        .filter(type -> type.getPackageName().equals("io.kiln.spi"))
                        .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                        .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                        .filter(target -> target.getName().startsWith("io.kiln.")
                                && !target.getPackageName().equals("io.kiln.spi")))
                .isEmpty();
    }

    /** {@code -Dkiln.api.write=true} writes the list anew. */
    @ArchTest
    static void theListHasEverySignature(JavaClasses classes) throws IOException {
        TreeMap<String, List<String>> signatures = new TreeMap<>();
        for (JavaClass type : promised(classes)) {
            signatures.put(type.getName(), signatures(type.reflect()));
        }
        StringBuilder text = new StringBuilder();
        signatures.forEach((name, members) -> {
            text.append(name).append('\n');
            members.forEach(member -> text.append("    ").append(member).append('\n'));
        });
        if (Boolean.getBoolean("kiln.api.write")) {
            Files.createDirectories(LIST.getParent());
            Files.writeString(LIST, text);
        }
        assertThat(text.toString().lines()).hasSizeGreaterThan(200);
        assertThat(Files.readString(LIST)).isEqualTo(text.toString());
    }

    private static List<String> signatures(Class<?> type) {
        Stream<String> constants = Arrays.stream(type.getDeclaredFields())
                .filter(field -> isVisible(field.getModifiers()))
                .map(Field::toGenericString);
        Stream<Executable> units = Stream.concat(
                Arrays.<Constructor<?>>stream(type.getDeclaredConstructors()),
                Arrays.<Method>stream(type.getDeclaredMethods()));
        return Stream.concat(
                        Stream.of(type.toGenericString()),
                        Stream.concat(
                                        constants,
                                        units.filter(unit -> isVisible(unit.getModifiers()) && !unit.isSynthetic())
                                                .map(Executable::toGenericString))
                                .sorted())
                .toList();
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return (modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED))
                && !modifiers.contains(JavaModifier.SYNTHETIC);
    }

    private static void involved(String where, JavaType type, List<String> reached) {
        type.getAllInvolvedRawTypes().forEach(each -> check(where, each, reached));
    }

    private static void check(String where, JavaClass type, List<String> reached) {
        String name = type.getBaseComponentType().getName();
        boolean isPromised = !name.contains(".")
                || name.startsWith("java.")
                || name.startsWith("io.kiln.api.")
                || name.startsWith("io.kiln.spi.");
        if (!isPromised) {
            reached.add(where + ": " + name);
        }
    }

    private static List<JavaClass> promised(JavaClasses classes) {
        return classes.stream()
                .filter(type -> isVisible(type.getModifiers()))
                .filter(type -> type.getEnclosingClass()
                        .map(outer -> isVisible(outer.getModifiers()))
                        .orElse(true))
                .toList();
    }
}
