// SPDX-License-Identifier: Apache-2.0
package io.kiln;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.lease.Lease;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.transport.Transport;
import io.kiln.module.inspect.ArtifactInspector;
import java.net.URL;
import java.util.Arrays;
import java.util.stream.Stream;

/** The house's shape: two halves with a narrow waist, Maven only at the door, processes in one place. */
@AnalyzeClasses(packages = "io.kiln", importOptions = ImportOption.DoNotIncludeTests.class)
final class ArchitectureTest {
    private static final String[] COMPILER = {
        "io.kiln.ir..",
        "io.kiln.frontend..",
        "io.kiln.transform..",
        "io.kiln.quantize..",
        "io.kiln.reference..",
        "io.kiln.target..",
        "io.kiln.tir..",
        "io.kiln.lower..",
        "io.kiln.schedule..",
        "io.kiln.stream..",
        "io.kiln.memory..",
        "io.kiln.codegen..",
        "io.kiln.executor..",
        "io.kiln.partition..",
        "io.kiln.compile.."
    };
    private static final String[] FIRMWARE = {
        "io.kiln.toolchain..", "io.kiln.firmware..", "io.kiln.device..", "io.kiln.process.."
    };
    private static final String[] UPSTAIRS = {"io.kiln.flow..", "io.kiln.maven..", "io.kiln.api.."};

    @ArchTest
    static final ArchRule only_the_mojos_know_maven = noClasses()
            .that()
            .resideOutsideOfPackage("io.kiln.maven..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.apache.maven..", "org.codehaus.plexus..", "org.eclipse.aether..");

    /** Here, because reading all classes takes longer than looking at them. */
    @ArchTest
    static final ArchTests the_house_is_small = ArchTests.in(HouseSizeTest.class);

    /** Whether a class was made of a template. */
    static boolean isTemplate(JavaClass type) {
        return type.getPackageName().startsWith("io.kiln.kernels")
                || type.getPackageName().startsWith("io.kiln.pages");
    }

    /** A template belongs to the room that prints it. */
    @ArchTest
    static final ArchRule packages_have_no_cycles = slices().matching("io.kiln.(**)")
            .should()
            .beFreeOfCycles()
            .ignoreDependency(alwaysTrue(), resideInAnyPackage("io.kiln.kernels..", "io.kiln.pages.."));

    @ArchTest
    static final ArchRule the_compiler_knows_no_firmware = noClasses()
            .that()
            .resideInAnyPackage(COMPILER)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(FIRMWARE)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule the_firmware_knows_no_compiler = noClasses()
            .that()
            .resideInAnyPackage(FIRMWARE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(COMPILER)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule only_the_flow_knows_signal_processing = noClasses()
            .that()
            .resideOutsideOfPackages("io.kiln.preprocess..", "io.kiln.flow..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.kiln.preprocess..");

    @ArchTest
    static final ArchRule the_engine_does_not_look_upstairs = noClasses()
            .that()
            .resideOutsideOfPackages(UPSTAIRS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(UPSTAIRS);

    @ArchTest
    static final ArchRule lines_of_bytes_know_nothing_of_what_is_said = noClasses()
            .that()
            .resideInAPackage("io.kiln.device.transport..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.kiln.device.protocol..",
                    "io.kiln.device.rpc..",
                    "io.kiln.device.flash..",
                    "io.kiln.device.lease..");

    @ArchTest
    static final ArchRule rpc_is_for_programs_without_boards_and_builds = noClasses()
            .that()
            .resideInAPackage("io.kiln.device.rpc..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.kiln.toolchain..", "io.kiln.firmware..", "io.kiln.device.emulator..", "io.kiln.process..");

    @ArchTest
    static final ArchRule the_project_api_is_for_programs_without_boards_and_builds = noClasses()
            .that()
            .resideInAPackage("io.kiln.device.projectapi..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.kiln.toolchain..", "io.kiln.firmware..", "io.kiln.device.emulator..", "io.kiln.device.flash..");

    @ArchTest
    static final ArchRule verification_on_boards_knows_the_devices_interfaces_only = noClasses()
            .that()
            .haveSimpleName("ProgrammedBoard")
            .should()
            .dependOnClassesThat(describe(
                    "implement Lease, Transport, Protocol or FlashRunner",
                    type -> !type.isInterface()
                            && Stream.of(Lease.class, Transport.class, Protocol.class, FlashRunner.class)
                                    .anyMatch(type::isAssignableTo)));

    @ArchTest
    static final ArchRule only_process_starts_processes = noClasses()
            .that()
            .resideOutsideOfPackage("io.kiln.process..")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.lang.ProcessBuilder")
            .orShould()
            .callMethod(Runtime.class, "exec", String[].class)
            .orShould()
            .callMethod(Runtime.class, "exec", String.class)
            .orShould()
            .dependOnClassesThat()
            .resideInAPackage("org.apache.commons.exec..");

    @ArchTest
    static final ArchRule only_the_disassembler_starts_a_program_to_inspect = noClasses()
            .that()
            .resideInAPackage("io.kiln.module..")
            .or()
            .areAssignableTo(ArtifactInspector.class)
            .and()
            .doNotHaveSimpleName("DisassemblyInspector")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.kiln.process..");

    @ArchTest
    static final ArchRule only_devices_and_farms_open_connections = noClasses()
            .that()
            .resideOutsideOfPackages("io.kiln.device..", "io.kiln.farm..")
            .should()
            .dependOnClassesThat()
            .haveNameMatching(
                    "java\\.net\\.(http\\..*|.*Socket|.*URLConnection)|java\\.nio\\.channels\\..*(Socket|Datagram).*|javax\\.net\\..*")
            .orShould()
            .callMethod(URL.class, "openStream")
            .orShould()
            .callMethod(URL.class, "openConnection")
            .orShould()
            .callMethod(URL.class, "getContent");

    @ArchTest
    static final ArchRule modules_know_neither_half = noClasses()
            .that()
            .resideInAnyPackage("io.kiln.module..", "io.kiln.artifact..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(Stream.concat(Arrays.stream(COMPILER), Arrays.stream(FIRMWARE))
                    .toArray(String[]::new));

    @ArchTest
    static final ArchRule only_the_host_package_calls_foreign_functions = noClasses()
            .that()
            .resideOutsideOfPackage("io.kiln.module.host..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.sun.jna..");

    @ArchTest
    static final ArchRule only_frontends_know_model_files = noClasses()
            .that()
            .resideOutsideOfPackages("io.kiln.frontend..", "io.kiln.compile..", "io.kiln.flow..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.kiln.frontend..");

    @ArchTest
    static final ArchRule only_the_farms_connections_and_broker_know_the_engine_of_farms = noClasses()
            .that()
            .resideOutsideOfPackages("io.kiln.farm.link..", "io.kiln.farm.broker..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.apache.activemq..", "org.apache.qpid..", "io.netty..");

    /** Jobs are data: what runs them is given to a worker. */
    @ArchTest
    static final ArchRule farms_know_no_boards_and_no_tools = noClasses()
            .that()
            .resideInAPackage("io.kiln.farm..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.kiln.toolchain..", "io.kiln.firmware..", "io.kiln.device.emulator..", "io.kiln.process..");
}
