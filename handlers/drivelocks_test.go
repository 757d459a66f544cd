package handlers_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestLocksEndWithPermission tests that a lock binds other clients until its user is deleted, its
// key is revoked, or its user loses the role.
func TestLocksEndWithPermission(t *testing.T) {
	t.Parallel()
	for reason, end := range map[string]func(s *space, editor *client){
		"its user is deleted": func(s *space, editor *client) { s.send("DELETE", "/users/"+editor.id, nil).want(http.StatusNoContent) },
		"its key is revoked": func(s *space, editor *client) {
			for _, key := range s.get("/users/" + editor.id + "/keys").data() {
				s.send("DELETE", "/users/"+editor.id+"/keys/"+key.text("id"), nil).want(http.StatusNoContent)
			}
		},
		"its role is revoked": func(s *space, editor *client) { s.newRole(editor, "") },
		"its user is demoted": func(s *space, editor *client) { s.newRole(editor, "member") },
	} {
		s := sysadmin(t).newSpace(object{"visibility": "public"})
		editor, admin := s.newMember("editor"), s.newMember("admin")
		d := admin.newDriveIn(&fixture{space: s})
		of := d.as(editor)
		other := d.as(s.newMember("editor"))
		token := of.dav("LOCK", "/a.txt", lockBody).want(http.StatusOK).header.Get("Lock-Token")
		of.dav("LOCK", "/sub", lockBody).want(http.StatusOK)
		for path, method := range map[string]string{"/a.txt": "PUT", "/sub": "DELETE", "/sub/b.txt": "PROPPATCH", "/sub/new": "MKCOL"} {
			other.dav(method, path, map[string]string{"PROPPATCH": patchBody, "PUT": "x"}[method]).want(http.StatusLocked)
		}
		other.dav("MOVE", "/sub/b.txt", "", "Destination: $/a.txt").want(http.StatusLocked)
		other.dav("UNLOCK", "/a.txt", "", "Lock-Token: "+token).want(http.StatusForbidden)
		end(s, editor)
		if found := string(other.dav("PROPFIND", "", "", "Depth: 1").want(http.StatusMultiStatus).body); strings.Contains(found, "activelock") {
			t.Errorf("%s: its locks are shown", reason)
		}
		other.dav("LOCK", "/a.txt", "", "If: ("+token+")").want(http.StatusPreconditionFailed)
		other.dav("LOCK", "/a.txt", lockBody).want(http.StatusOK)
		other.dav("PROPPATCH", "/sub/b.txt", patchBody).want(http.StatusMultiStatus)
		other.dav("DELETE", "/sub", "").want(http.StatusNoContent)
	}
}

// newRole gives a member of the dataspace another role, or no role if role is "".
func (s *space) newRole(user *client, role string) {
	s.t.Helper()
	for _, p := range s.get("/privileges?userId=" + user.id + "&dataspaceId=" + s.dataspace).data() {
		s.send("DELETE", "/privileges/"+p.text("id"), nil).want(http.StatusNoContent)
	}
	if role != "" {
		s.send("POST", "/privileges", object{"userId": user.id, "dataspaceId": s.dataspace, "role": role}).want(http.StatusOK)
	}
}

// TestLockWithAnotherKey tests that the same user can use a lock with another key, until the key of
// the lock is revoked.
func TestLockWithAnotherKey(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	editor := s.newMember("editor")
	d := s.newDriveIn(&fixture{space: s})
	of := d.as(editor)
	submit := "If: (" + of.dav("LOCK", "/a.txt", lockBody).want(http.StatusOK).header.Get("Lock-Token") + ")"
	keys := s.get("/users/" + editor.id + "/keys").data()
	another := d.as(editor.withKey(s.send("POST", "/users/"+editor.id+"/keys", nil).want(http.StatusCreated).object().text("key")))
	another.dav("LOCK", "/a.txt", "", submit).want(http.StatusOK)
	s.send("DELETE", "/users/"+editor.id+"/keys/"+keys[0].text("id"), nil).want(http.StatusNoContent)
	another.dav("LOCK", "/a.txt", "", submit).want(http.StatusPreconditionFailed)
	another.dav("PUT", "/a.txt", "x", submit).want(http.StatusPreconditionFailed)
	another.dav("PUT", "/a.txt", "x").want(http.StatusNoContent)
}

// TestAdminsEndLocks tests that an admin of the dataspace can end any lock in it, and that admins
// of other dataspaces cannot.
func TestAdminsEndLocks(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	d := s.newDriveIn(&fixture{space: s})
	editor, admin, elsewhere := d.as(s.newMember("editor")), d.as(s.newMember("admin")), d.as(s.newMember("editor"))
	elsewhere.newRoleIn(sysadmin(t).newSpace(nil), "admin")
	token := "Lock-Token: " + editor.dav("LOCK", "/a.txt", lockBody).want(http.StatusOK).header.Get("Lock-Token")
	elsewhere.dav("UNLOCK", "/a.txt", "", token).want(http.StatusForbidden)
	admin.dav("PUT", "/a.txt", "x").want(http.StatusLocked)
	admin.dav("UNLOCK", "/a.txt", "", token).want(http.StatusNoContent)
	admin.dav("PUT", "/a.txt", "x").want(http.StatusNoContent)
}

// newRoleIn gives the client a role in another dataspace.
func (d *onDrive) newRoleIn(s *space, role string) {
	d.t.Helper()
	s.send("POST", "/privileges", object{"userId": d.id, "dataspaceId": s.dataspace, "role": role}).want(http.StatusCreated)
}
