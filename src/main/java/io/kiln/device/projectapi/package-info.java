// SPDX-License-Identifier: Apache-2.0
/**
 * microTVM's Project API, version 1: {@link io.kiln.device.projectapi.ProjectServer} starts the server program of a
 * project folder and has it generate, build, flash and talk to a board. Needs neither Maven nor a board profile.
 */
package io.kiln.device.projectapi;
