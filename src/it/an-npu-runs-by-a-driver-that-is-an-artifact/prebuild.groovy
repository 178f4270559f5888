// SPDX-License-Identifier: Apache-2.0
assert new File(basedir, 'firmware/vela/vela').setExecutable(true)
return true
