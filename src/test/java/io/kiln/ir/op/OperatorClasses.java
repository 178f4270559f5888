// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.Set;
import java.util.stream.Collectors;

/** Finds the definitions of all operators among the compiled classes, so that no list of them can be incomplete. */
public final class OperatorClasses {
    private OperatorClasses() {}

    /** The classes of operators. */
    public static Set<Class<?>> all() {
        return new ClassFileImporter()
                .importPackages("io.kiln.ir.op").stream()
                        .filter(type -> type.isAssignableTo(Op.class))
                        .filter(type ->
                                !type.isInterface() && !type.getModifiers().contains(JavaModifier.ABSTRACT))
                        .map(JavaClass::reflect)
                        .collect(Collectors.toUnmodifiableSet());
    }

    /** Those that are not convolutions or fully connected layers, which schedules are chosen for. */
    public static Set<Class<?>> otherThanLayers() {
        return all().stream().filter(op -> !Layer.class.isAssignableFrom(op)).collect(Collectors.toUnmodifiableSet());
    }
}
