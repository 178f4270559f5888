// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.Probe;
import io.kiln.device.lease.Lease;
import io.kiln.device.projectapi.ProjectServer;
import io.kiln.device.transport.Transport;
import io.kiln.flow.spec.VerifyOver;
import java.util.Optional;
import java.util.function.Consumer;

/** A board that a Project API server flashes, and holds the line to. */
final class ProjectLease implements Lease {
    private final Leases wanted;
    private final BoardProject project;
    private final ConsoleLog log;
    private Optional<ProjectServer> server = Optional.empty();

    private ProjectLease(Leases wanted, BoardProject project) {
        this.wanted = wanted;
        this.project = project;
        this.log = new ConsoleLog(wanted.log());
    }

    /**
     * A lease, if a server flashes the board.
     *
     * @throws KilnException if the build asks for another protocol than RPC: the server's images have microTVM's RPC server
     */
    static Optional<Lease> of(Leases wanted) {
        return wanted.use()
                .build()
                .flatMap(build -> build.board().projectApi().map(how -> {
                    if (build.spec().verify().over() != VerifyOver.RPC) {
                        throw new KilnException(
                                Failure.DEVICE.problem(
                                        "the board is flashed by a Project API server, whose images speak microTVM's RPC only",
                                        build.board().origin(),
                                        "kiln.verify.over rpc",
                                        "Set kiln.verify.over to rpc, and in flash.projectApi.options what makes the image host-driven"));
                    }
                    return new ProjectLease(wanted, new BoardProject(build, how));
                }));
    }

    @Override
    public String name(Optional<Probe> probe) {
        return wanted.use().board().id() + ", Project API server in "
                + project.how().directory();
    }

    @Override
    public FlashRunner flashRunner() {
        return wanted.flashRunners().open();
    }

    @Override
    public Transport start(Runnable bring) {
        bring.run();
        ProjectServer started = project.start();
        server = Optional.of(started);
        return started.openTransport(project.how().options()).transport();
    }

    @Override
    public Consumer<String> log() {
        return log;
    }

    @Override
    public void close() {
        server.ifPresent(ProjectServer::close);
        log.write();
    }
}
