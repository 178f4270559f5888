// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.maven.ToldGoal;
import io.kiln.maven.group.GoalParameters.Circumstances;
import java.io.File;
import java.util.List;
import java.util.function.Consumer;
import org.apache.maven.model.Dependency;
import org.junit.jupiter.api.Test;

/** Whatever a goal is told is among its circumstances, but for secrets, and for what differs in every run of Maven. */
final class CircumstancesTest {
    private static String of(Consumer<ToldGoal> change) {
        ToldGoal told = new ToldGoal();
        change.accept(told);
        return Circumstances.of(told.session(), told.project(), told.execution());
    }

    private static void assertCounts(Consumer<ToldGoal> change) {
        assertThat(of(change)).isNotEqualTo(of(told -> {}));
    }

    private static void assertDoesNotCount(Consumer<ToldGoal> change) {
        assertThat(of(change)).isEqualTo(of(told -> {}));
    }

    @Test
    void propertiesCountWhoeverSetsThem() {
        assertCounts(told -> told.user().setProperty("kiln.optimize", "size"));
        assertCounts(told -> told.properties().setProperty("kiln.optimize", "size"));
        // MAVEN_OPTS and .mvn/jvm.config set these.
        assertCounts(told -> told.system().setProperty("kiln.optimize", "size"));
        assertCounts(told -> told.system().setProperty("project.build.outputTimestamp", "1"));
        assertCounts(told -> told.system().setProperty("user.dir", "/elsewhere"));
        assertCounts(told -> told.system().setProperty("java.version", "21"));
        assertCounts(told -> told.system().setProperty("env.PATH", "/opt/bin:/usr/bin"));
        assertCounts(told -> told.system().setProperty("env.KILN_HOME", "/opt/kiln"));
        assertThat(of(told -> told.user().setProperty("a", "1\nb=2"))).isNotEqualTo(of(told -> {
            told.user().setProperty("a", "1");
            told.user().setProperty("b", "2");
        }));
    }

    @Test
    void expressionsCountWithTheirValues() {
        Consumer<ToldGoal> define = told -> told.element("define", "VARIANT=${env.VARIANT}");
        assertThat(of(define.andThen(told -> told.system().setProperty("env.VARIANT", "a"))))
                .isNotEqualTo(of(define.andThen(told -> told.system().setProperty("env.VARIANT", "b"))));
        Consumer<ToldGoal> property = told -> told.user().setProperty("kiln.define", "VARIANT=${env.VARIANT}");
        assertThat(of(property.andThen(told -> told.system().setProperty("env.VARIANT", "a"))))
                .isNotEqualTo(of(property.andThen(told -> told.system().setProperty("env.VARIANT", "b"))));
    }

    @Test
    void theConfigurationCountsAndTheDependenciesOfThePlugin() {
        assertCounts(told -> told.element("optimize", "size"));
        assertThat(of(told -> told.element("define", "A").element("define", "B")))
                .isNotEqualTo(of(told -> told.element("define", "B").element("define", "A")));
        assertCounts(told -> {
            Dependency extension = new Dependency();
            extension.setGroupId("com.example");
            extension.setArtifactId("codegen");
            extension.setVersion("2");
            told.plugin().addDependency(extension);
        });
    }

    @Test
    void settingsAndToolchainsCountByWhereTheyLieAndTheKeysThatTheyName() {
        assertCounts(told -> told.request().setUserSettingsFile(new File("/other.xml")));
        assertCounts(told -> told.request().setGlobalSettingsFile(new File("/other.xml")));
        assertCounts(told -> told.request().setUserToolchainsFile(new File("/other.xml")));
        assertCounts(told -> told.request().setGlobalToolchainsFile(null));
        assertCounts(told -> told.repository("/tmp/repository"));
        assertCounts(told -> told.request().addServer(ToldGoal.server("other", "/keys/other.pem", "")));
        assertCounts(told -> told.request().getServers().get(0).setPrivateKey("/keys/new.pem"));
    }

    @Test
    void secretsAreLeftOut() {
        assertDoesNotCount(told -> {
            told.request().getServers().get(0).setPassword("hunter2");
            told.request().getServers().get(0).setPassphrase("hunter2");
            told.request().getServers().get(0).setUsername("me");
        });
        for (String name : List.of("gpg.passphrase", "sonar.token", "my.password", "clientSecret", "api-key")) {
            for (Consumer<ToldGoal> secret : List.<Consumer<ToldGoal>>of(
                    told -> told.user().setProperty(name, "hunter2"),
                    told -> told.properties().setProperty(name, "hunter2"),
                    told -> told.system().setProperty(name, "hunter2"))) {
                assertThat(of(secret)).as(name).doesNotContain("hunter2");
            }
        }
        for (String name : List.of("password", "keyStorePassword", "trustStorePassword")) {
            assertThat(of(told -> told.user().setProperty("kiln.farm." + name, "hunter2")))
                    .doesNotContain("hunter2");
            assertThat(of(told -> told.farm(name, "hunter2"))).doesNotContain("hunter2");
        }
        assertThat(of(told -> told.element("farmPassword", "hunter2"))).doesNotContain("hunter2");
        assertDoesNotCount(told -> told.system().setProperty("env.GITHUB_TOKEN", "hunter2"));
    }

    /** A memory of a board may have any name, and macros any value. */
    @Test
    void whatIsCompiledCountsWhateverItIsCalled() {
        assertThat(of(told -> told.user().setProperty("kiln.memory.secret", "1K")))
                .isNotEqualTo(of(told -> told.user().setProperty("kiln.memory.secret", "2K")));
        assertCounts(told -> told.element("define", "PASSWORD=hunter2"));
    }

    @Test
    void whatDiffersInEveryRunDoesNotCount() {
        assertDoesNotCount(told -> told.system().setProperty("env.SHLVL", "2"));
        assertDoesNotCount(told -> told.system().setProperty("sun.java.command", "verify -o"));
    }
}
