// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget.MethodCallTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.junit.jupiter.api.Test;

/** A goal takes the parameters that it reads: whoever looks up a goal is told nothing that does not matter to it. */
final class GoalParametersTest {
    private static final List<JavaClass> GOALS = new ClassFileImporter()
            .importPackages("io.kiln.maven", "io.kiln.maven.part", "io.kiln.maven.site").stream()
                    .filter(type -> type.isAnnotatedWith(Mojo.class))
                    .toList();

    @Test
    void everyParameterOfAGoalIsReadByIt() {
        assertThat(GOALS).hasSizeGreaterThan(30);
        Map<String, List<String>> unread = new TreeMap<>();
        for (JavaClass goal : GOALS) {
            Set<JavaField> read = read(goal);
            List<String> names = parameters(goal).stream()
                    .filter(field -> !read.contains(field))
                    .map(JavaField::getName)
                    .toList();
            if (!names.isEmpty()) {
                unread.put(goal.getSimpleName(), names);
            }
        }
        assertThat(unread).isEmpty();
    }

    /** Those that a user sets; the others are Maven's own values. */
    private static List<JavaField> parameters(JavaClass goal) {
        return goal.getAllFields().stream()
                .filter(field -> field.isAnnotatedWith(Parameter.class)
                        && !field.getAnnotationOfType(Parameter.class).readonly())
                .sorted(Comparator.comparing(JavaField::getFullName))
                .toList();
    }

    /** The fields that are read when Maven runs a goal, by its own methods and those that it inherits. */
    private static Set<JavaField> read(JavaClass goal) {
        Set<JavaField> fields = new HashSet<>();
        Set<JavaCodeUnit> known = new HashSet<>();
        Deque<JavaCodeUnit> left = new ArrayDeque<>();
        goal.getAllMethods().stream()
                .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
                .forEach(left::add);
        while (!left.isEmpty()) {
            JavaCodeUnit method = left.pop();
            if (known.add(method)) {
                method.getFieldAccesses()
                        .forEach(access -> access.getTarget().resolveMember().ifPresent(fields::add));
                method.getMethodCallsFromSelf()
                        .forEach(call -> own(goal, call.getTarget()).ifPresent(left::add));
            }
        }
        return fields;
    }

    /** What a call means in a goal: the method of the most special class that has it. */
    private static Optional<JavaMethod> own(JavaClass goal, MethodCallTarget called) {
        String[] types =
                called.getRawParameterTypes().stream().map(JavaClass::getName).toArray(String[]::new);
        Optional<JavaClass> type = Optional.of(goal);
        while (type.isPresent()) {
            Optional<JavaMethod> found = type.get().tryGetMethod(called.getName(), types);
            if (found.isPresent()) {
                return found;
            }
            type = type.get().getRawSuperclass();
        }
        return Optional.empty();
    }
}
